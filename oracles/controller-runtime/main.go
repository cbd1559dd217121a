// Command controller-runtime does what operators do, with sigs.k8s.io/controller-runtime, against any API server, and
// says in JSON what came of it. It knows nothing of the server: two servers are alike when the results are.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// Longer than anything here takes on a busy machine, shorter than the patience of the tests.
const patience = 100 * time.Second

var subcommands = map[string]func(context.Context, *world) error{
	"cache":      runCache,
	"apply":      runApply,
	"watch":      runWatch,
	"conversion": runConversion,
	"admission":  runAdmission,
	"lease":      runLease,
	"patch":      runPatch,
	"discovery":  runDiscovery,
	"openapi":    runOpenAPI,
	"metadata":   runMetadata,
}

// programs run until they are done or told to end, in a namespace that exists, and print for themselves.
var programs = map[string]func(context.Context, *world) error{
	"elect":          runElect,
	"bench-requests": runBenchRequests,
	"bench-sync":     runBenchSync,
	"bench-idle":     runBenchIdle,
	"bench-latency":  runBenchLatency,
	"bench-noop":     runBenchNoop,
}

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf("usage: controller-runtime version|%s [flags]", strings.Join(names(), "|")))
	}
	name := os.Args[1]
	if name == "version" || name == "--version" {
		fmt.Println("controller-runtime", dependencyVersion("sigs.k8s.io/controller-runtime"))
		return
	}
	run, known := subcommands[name]
	program, isProgram := programs[name]
	if !known && !isProgram {
		fail(fmt.Errorf("%s is no subcommand; there are %s", name, strings.Join(names(), ", ")))
	}
	var options options
	flags := flag.NewFlagSet(name, flag.ExitOnError)
	flags.StringVar(&options.kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"), "file that says where the server is")
	flags.StringVar(&options.namespace, "namespace", "cr-"+name, "namespace to create and work in")
	flags.IntVar(&options.count, "count", 100, "how many objects of each kind the cache holds")
	flags.IntVar(&options.webhookPort, "webhook-port", 9443, "loopback port of the webhooks")
	flags.StringVar(&options.claims, "claims", "", "file to which a leader appends its claims")
	flags.StringVar(&options.leaseName, "lease", "duel", "name of the lease that candidates compete for")
	flags.StringVar(&options.identity, "identity", "client-go", "who a candidate is")
	flags.DurationVar(&options.leaseDuration, "lease-duration", 3*time.Second, "how long a lease is good for")
	flags.DurationVar(&options.renewDeadline, "renew-deadline", 2*time.Second, "how long a leader tries to renew")
	flags.DurationVar(&options.retryPeriod, "retry-period", 300*time.Millisecond, "time between tries")
	flags.IntVar(&options.clients, "clients", 1, "how many requests are under way at once")
	flags.DurationVar(&options.duration, "duration", 3*time.Second, "how long to measure")
	_ = flags.Parse(os.Args[2:])
	// Results are what stdout is for; what the libraries log is noise in them.
	ctrllog.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	world, err := newWorld(options)
	if err != nil {
		fail(err)
	}
	if isProgram {
		if err := program(context.Background(), world); err != nil {
			fail(err)
		}
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err = world.prepare(ctx)
	if err == nil {
		err = run(ctx, world)
	}
	world.cleanUp()
	print(world.result)
	if err != nil {
		fail(err)
	}
}

func names() []string {
	var all []string
	for name := range subcommands {
		all = append(all, name)
	}
	for name := range programs {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func dependencyVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, dependency := range info.Deps {
		if dependency.Path == path {
			return dependency.Version
		}
	}
	return "unknown"
}

func print(result result) {
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(result); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "controller-runtime:", err)
	os.Exit(1)
}
