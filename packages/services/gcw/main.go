// Command gcw is a Google Cloud Workflows of one's own for tests: the REST API of workflows and their executions, as far as
// it is documented, over an engine that really runs workflow YAML. Everything is in memory and gone with the process.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
)

func main() {
	port := flag.Int("port", 0, "port on 127.0.0.1; 0 for a free one")
	flag.Parse()
	// The engine logs every step, with what people give to sys.log.
	log.SetOutput(io.Discard)
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	url := "http://" + listener.Addr().String()
	fmt.Println(url)
	fmt.Fprintln(os.Stderr, http.Serve(listener, newServer(url).routes()))
	os.Exit(1)
}
