// Command cloud-provider is a cloud controller manager as vendors make them: the framework of k8s.io/cloud-provider with a
// cloud of ours, which is either always well (for measurements) or somewhere else, reached over HTTP (for comparisons).
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/cloud-provider/app"
	"k8s.io/cloud-provider/app/config"
	"k8s.io/cloud-provider/names"
	"k8s.io/cloud-provider/options"
	cliflag "k8s.io/component-base/cli/flag"
	// Without them the metrics of clients and queues are not there.
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/workqueue"
)

const library = "k8s.io/cloud-provider"

func main() {
	if len(os.Args) == 2 && strings.TrimLeft(os.Args[1], "-") == "version" {
		fmt.Println(libraryVersion())
		return
	}
	calls := newTally()
	cloudprovider.RegisterCloudProvider(providerName, factory(calls))
	settings, err := options.NewCloudControllerManagerOptions()
	if err != nil {
		fail(err)
	}
	command := app.NewCloudControllerManagerCommand(
		settings, open, app.DefaultInitFuncConstructors, names.CCMControllerAliases(), cliflag.NamedFlagSets{}, untilSignal())
	command.SilenceUsage = true
	if err := command.Execute(); err != nil {
		fail(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(calls.counts()); err != nil {
		fail(err)
	}
}

// open makes the cloud that the flags name.
func open(completed *config.CompletedConfig) cloudprovider.Interface {
	wanted := completed.ComponentConfig.KubeCloudShared.CloudProvider
	cloud, err := cloudprovider.InitCloudProvider(wanted.Name, wanted.CloudConfigFile)
	if err != nil {
		fail(err)
	}
	if cloud == nil {
		fail(fmt.Errorf("there is no cloud %q", wanted.Name))
	}
	return cloud
}

// untilSignal is closed when whoever started us wants an end.
func untilSignal() <-chan struct{} {
	stop := make(chan struct{})
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-signals
		close(stop)
	}()
	return stop
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "cloud-provider:", err)
	os.Exit(1)
}

func libraryVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, module := range info.Deps {
		if module.Path == library {
			return module.Version
		}
	}
	return "unknown"
}
