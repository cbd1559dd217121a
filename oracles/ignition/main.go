// Command ignition judges and merges Ignition configs with github.com/coreos/ignition, and answers in JSON: what a host
// would say about them.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/coreos/ignition/v2/config/v3_1"
)

const usage = "usage: ignition version | ignition validate <config | ignition judge <configs | ignition merge <pairs"

// verdict is what the parser thinks of one config.
type verdict struct {
	// Problem is why the config is refused; empty when it is not.
	Problem string   `json:"problem,omitempty"`
	Entries []string `json:"entries"`
}

// pair is a config and what is merged over it.
type pair struct {
	Parent json.RawMessage `json:"parent"`
	Child  json.RawMessage `json:"child"`
}

// outcome is the merged config, or why there is none.
type outcome struct {
	Problem string `json:"problem,omitempty"`
	Config  any    `json:"config,omitempty"`
}

func main() {
	if len(os.Args) != 2 {
		fail(usage)
	}
	switch os.Args[1] {
	case "version", "--version":
		fmt.Println("ignition", dependencyVersion("github.com/coreos/ignition/v2"))
	case "validate":
		print(judge(input()))
	case "judge":
		var configs []json.RawMessage
		decode(&configs)
		verdicts := []verdict{}
		for _, config := range configs {
			verdicts = append(verdicts, judge(config))
		}
		print(verdicts)
	case "merge":
		var pairs []pair
		decode(&pairs)
		outcomes := []outcome{}
		for _, each := range pairs {
			outcomes = append(outcomes, merge(each))
		}
		print(outcomes)
	default:
		fail(usage)
	}
}

func judge(config []byte) verdict {
	_, report, err := v3_1.ParseCompatibleVersion(config)
	result := verdict{Entries: []string{}}
	for _, entry := range report.Entries {
		result.Entries = append(result.Entries, entry.String())
	}
	if err != nil {
		result.Problem = err.Error()
	}
	return result
}

func merge(each pair) outcome {
	parent, _, err := v3_1.ParseCompatibleVersion(each.Parent)
	if err != nil {
		return outcome{Problem: "parent: " + err.Error()}
	}
	child, _, err := v3_1.ParseCompatibleVersion(each.Child)
	if err != nil {
		return outcome{Problem: "child: " + err.Error()}
	}
	return outcome{Config: v3_1.Merge(parent, child)}
}

func input() []byte {
	data, err := io.ReadAll(os.Stdin)
	if err != nil {
		fail(err.Error())
	}
	return data
}

func decode(target any) {
	if err := json.Unmarshal(input(), target); err != nil {
		fail(err.Error())
	}
}

func print(value any) {
	if err := json.NewEncoder(os.Stdout).Encode(value); err != nil {
		fail(err.Error())
	}
}

func dependencyVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, dependency := range info.Deps {
		if dependency.Path == path {
			return strings.TrimPrefix(dependency.Version, "v")
		}
	}
	return "unknown"
}

func fail(text string) {
	fmt.Fprintln(os.Stderr, "ignition:", text)
	os.Exit(1)
}
