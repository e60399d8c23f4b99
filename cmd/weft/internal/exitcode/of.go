package exitcode

// Of returns the code for an error: the one that [With] gave it, else the one
// of its type, else [Internal]. A nil err is [OK].
func Of(err error) Code {
	if err == nil {
		return OK
	}
	if code, ok := given(err); ok {
		return code
	}
	return Internal
}
