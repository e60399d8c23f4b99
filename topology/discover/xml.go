package discover

// rootElement returns the name of the root element of an XML document, "" if
// the content is no XML, as far as the first start tag tells.
func rootElement(content []byte) string { return "" }
