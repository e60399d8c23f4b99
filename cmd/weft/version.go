package main

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"
)

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this binary",
		Example: "  weft version",
		Args:    arguments(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(a.Out, versionLine())
			return err
		},
	}
}

func versionLine() string {
	return fmt.Sprintf("weft %s %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
