// Package fluid shares the capacity of links among flows, exactly.
package fluid
