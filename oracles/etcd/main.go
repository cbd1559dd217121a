// Command etcd is the etcd server, built as a dependency. The server module publishes its start function but
// no main package, and the module that does (go.etcd.io/etcd/v3) is not listed for every release.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	etcdmain.Main(os.Args)
}
