package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// figures is what a bench program prints, one line of JSON: the same for every contender.
type figures struct {
	Count      int     `json:"count"`
	Seconds    float64 `json:"seconds"`
	CPUSeconds float64 `json:"cpuSeconds"`
	RSSBytes   int     `json:"rssBytes,omitempty"`
	HeapBytes  int     `json:"heapBytes,omitempty"`
	// Arrivals has when each mark arrived, in Unix microseconds.
	Arrivals map[string]int64 `json:"arrivals,omitempty"`
}

func say(value any) {
	text, _ := json.Marshal(value)
	fmt.Println(string(text))
}

// stopwatch measures wall and processor time of this process.
type stopwatch struct {
	at  time.Time
	cpu float64
}

func startWatch() stopwatch { return stopwatch{time.Now(), cpuSeconds()} }

func (s stopwatch) figures(count int) figures {
	return figures{Count: count, Seconds: time.Since(s.at).Seconds(), CPUSeconds: cpuSeconds() - s.cpu}
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}

func withMemory(result figures) figures {
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	result.HeapBytes = int(before.HeapAlloc)
	debug.FreeOSMemory()
	result.RSSBytes = residentBytes()
	return result
}

func residentBytes() int {
	text, _ := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(text))
	pages, _ := strconv.Atoi(fields[1])
	return pages * os.Getpagesize()
}

// runBenchRequests reads ConfigMaps with some clients at once.
func runBenchRequests(ctx context.Context, w *world) error {
	var count atomic.Int64
	var group sync.WaitGroup
	var failure atomic.Value
	read := func(at int64) error {
		key := client.ObjectKey{Namespace: w.namespace, Name: fmt.Sprintf("read-%d", at%int64(w.count))}
		return w.client.Get(ctx, key, &corev1.ConfigMap{})
	}
	if err := read(0); err != nil {
		return err
	}
	watch := startWatch()
	until := time.Now().Add(w.duration)
	for range w.clients {
		group.Go(func() {
			for time.Now().Before(until) {
				if err := read(count.Add(1)); err != nil {
					failure.Store(err)
					return
				}
			}
		})
	}
	group.Wait()
	if err, failed := failure.Load().(error); failed {
		return err
	}
	say(watch.figures(int(count.Load())))
	return nil
}

// runBenchSync fills a cache with the ConfigMaps of a namespace.
func runBenchSync(ctx context.Context, w *world) error {
	watch := startWatch()
	made, err := w.newCache()
	if err != nil {
		return err
	}
	if _, err := made.GetInformer(ctx, &corev1.ConfigMap{}); err != nil {
		return err
	}
	go func() { _ = made.Start(ctx) }()
	if !made.WaitForCacheSync(ctx) {
		return fmt.Errorf("the cache did not sync")
	}
	result := watch.figures(0)
	var list corev1.ConfigMapList
	if err := made.List(ctx, &list); err != nil {
		return err
	}
	result.Count = len(list.Items)
	list.Items = nil
	say(withMemory(result))
	return nil
}

func (w *world) newCache() (cache.Cache, error) {
	options := cache.Options{Scheme: w.scheme, DefaultTransform: cache.TransformStripManagedFields()}
	if w.namespace != "" {
		options.DefaultNamespaces = map[string]cache.Config{w.namespace: {}}
	}
	return cache.New(w.config, options)
}

// runBenchIdle holds informers of twenty kinds and does nothing.
func runBenchIdle(ctx context.Context, w *world) error {
	w.namespace = ""
	made, err := w.newCache()
	if err != nil {
		return err
	}
	for _, kind := range idleKinds {
		object, err := w.scheme.New(kind)
		if err != nil {
			return err
		}
		if _, err := made.GetInformer(ctx, object.(client.Object), cache.BlockUntilSynced(false)); err != nil {
			return err
		}
	}
	go func() { _ = made.Start(ctx) }()
	if !made.WaitForCacheSync(ctx) {
		return fmt.Errorf("the cache did not sync")
	}
	time.Sleep(2 * time.Second)
	watch := startWatch()
	time.Sleep(w.duration)
	result := watch.figures(len(idleKinds))
	result.RSSBytes = residentBytes()
	say(result)
	return nil
}

var idleKinds = kindsOf(map[string][]string{
	"/v1":                          {"Pod", "Service", "ConfigMap", "Secret", "Node", "Namespace", "ServiceAccount", "PersistentVolume", "PersistentVolumeClaim"},
	"apps/v1":                      {"Deployment", "ReplicaSet", "DaemonSet", "StatefulSet"},
	"batch/v1":                     {"Job", "CronJob"},
	"coordination.k8s.io/v1":       {"Lease"},
	"rbac.authorization.k8s.io/v1": {"Role", "RoleBinding"},
	"networking.k8s.io/v1":         {"Ingress"},
	"storage.k8s.io/v1":            {"StorageClass"},
})

func kindsOf(byVersion map[string][]string) []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for version, names := range byVersion {
		group, name, _ := strings.Cut(version, "/")
		for _, kind := range names {
			kinds = append(kinds, schema.GroupVersionKind{Group: group, Version: name, Kind: kind})
		}
	}
	return kinds
}

// arrivals keeps when marks arrived: a mark is the time of its write in Unix microseconds, and no two are the same.
type arrivals struct {
	lock sync.Mutex
	at   map[string]int64
	from int64
}

func newArrivals() *arrivals { return &arrivals{at: map[string]int64{}, from: math.MaxInt64} }

// start lets marks count that are written from now on: an informer begins with those of the rounds before.
func (a *arrivals) start() stopwatch {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.from = time.Now().UnixMicro()
	return startWatch()
}

func (a *arrivals) note(mark string) {
	written, err := strconv.ParseInt(mark, 10, 64)
	arrived := time.Now().UnixMicro()
	a.lock.Lock()
	defer a.lock.Unlock()
	if _, seen := a.at[mark]; err == nil && written >= a.from && !seen {
		a.at[mark] = arrived
	}
}

func (a *arrivals) figures(watch stopwatch) figures {
	a.lock.Lock()
	defer a.lock.Unlock()
	result := watch.figures(len(a.at))
	result.Arrivals = a.at
	return result
}

// untilInputEnds returns when whoever started this program closes its standard input.
func untilInputEnds() {
	reader := bufio.NewReader(os.Stdin)
	for {
		if _, err := reader.ReadByte(); err != nil {
			return
		}
	}
}
