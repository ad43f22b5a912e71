// Tells what debug/gosym reads from a program's table: every function, then a function and a place for each address on stdin.
package main

import (
	"bufio"
	"debug/elf"
	"debug/gosym"
	"fmt"
	"log"
	"os"
	"strconv"
)

func main() {
	program, err := elf.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	start, err := strconv.ParseUint(os.Args[2], 0, 64)
	if err != nil {
		log.Fatal(err)
	}
	data, err := program.Section(".gopclntab").Data()
	if err != nil {
		log.Fatal(err)
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, start))
	if err != nil {
		log.Fatal(err)
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for at := range table.Funcs {
		function := &table.Funcs[at]
		fmt.Fprintf(out, "function %#x %#x %s\n", function.Entry, function.End, function.Name)
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		address, err := strconv.ParseUint(lines.Text(), 0, 64)
		if err != nil {
			log.Fatal(err)
		}
		file, line, function := table.PCToLine(address)
		name := ""
		if function != nil {
			name = function.Name
		}
		fmt.Fprintf(out, "address %#x %d\t%s\t%s\n", address, line, file, name)
	}
}
