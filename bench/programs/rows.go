// A program on top of SQLite: C code that Go calls, and that calls Go back.
package main

import (
	"database/sql"
	"fmt"
	"log"
	"os/user"
	"strings"

	sqlite3 "github.com/mattn/go-sqlite3"
)

func reversed(text string) string {
	var out strings.Builder
	runes := []rune(text)
	for at := len(runes) - 1; at >= 0; at-- {
		out.WriteRune(runes[at])
	}
	return out.String()
}

func main() {
	sql.Register("rows", &sqlite3.SQLiteDriver{
		ConnectHook: func(connection *sqlite3.SQLiteConn) error {
			return connection.RegisterFunc("reversed", reversed, true)
		},
	})
	database, err := sql.Open("rows", ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	who, err := user.Current()
	if err != nil {
		log.Fatal(err)
	}
	var found string
	if err := database.QueryRow("select reversed(?)", who.Username).Scan(&found); err != nil {
		log.Fatal(err)
	}
	fmt.Println(found)
}
