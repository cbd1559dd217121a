// Command node-plugins is what vendors put beside a kubelet: a device plugin and a CSI driver with its registrar, made with
// the packages that everybody uses for it. It knows nothing of the node; everything it sees is one line of JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	devices "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
	"k8s.io/kubelet/pkg/apis/podresources/v1"
)

const (
	kubelet  = "/var/lib/kubelet"
	resource = "go.example/device"
	driver   = "go.csi.example"
	patience = 20 * time.Second
	usage    = "usage: node-plugins version|serve ROOT|list ROOT"
)

func main() {
	if len(os.Args) == 2 && strings.TrimLeft(os.Args[1], "-") == "version" {
		fmt.Println(libraryVersion())
		return
	}
	if len(os.Args) != 3 {
		fail(errors.New(usage))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	root := filepath.Join(os.Args[2], kubelet)
	switch os.Args[1] {
	case "serve":
		serve(ctx, root)
	case "list":
		list(ctx, root)
	default:
		fail(errors.New(usage))
	}
}

// serve runs both plugins until a signal comes.
func serve(ctx context.Context, root string) {
	open(root+"/device-plugins/go.sock", func(server *grpc.Server) {
		devices.RegisterDevicePluginServer(server, devicePlugin{})
	})
	open(root+"/plugins/go.sock", func(server *grpc.Server) { csi.RegisterNodeServer(server, &node{}) })
	open(root+"/plugins_registry/go-reg.sock", func(server *grpc.Server) {
		registration.RegisterRegistrationServer(server, registrar{})
	})
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	client := devices.NewRegistrationClient(dial(root + "/device-plugins/kubelet.sock"))
	for _, version := range []string{"v0", devices.Version} {
		request := &devices.RegisterRequest{Version: version, Endpoint: "go.sock", ResourceName: resource}
		_, err := client.Register(limited, request)
		tell("register "+version, nil, err)
	}
	<-ctx.Done()
}

// list asks the node what its pods have.
func list(ctx context.Context, root string) {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	client := v1.NewPodResourcesListerClient(dial(root + "/pod-resources/kubelet.sock"))
	pods, err := client.List(limited, &v1.ListPodResourcesRequest{})
	tell("list", pods, err)
	allocatable, err := client.GetAllocatableResources(limited, &v1.AllocatableResourcesRequest{})
	tell("allocatable", allocatable, err)
	_, err = client.Get(limited, &v1.GetPodResourcesRequest{PodName: "absent", PodNamespace: "default"})
	tell("absent", nil, err)
}

type devicePlugin struct {
	devices.UnimplementedDevicePluginServer
}

func (devicePlugin) GetDevicePluginOptions(context.Context, *devices.Empty) (*devices.DevicePluginOptions, error) {
	return &devices.DevicePluginOptions{PreStartRequired: true, GetPreferredAllocationAvailable: true}, nil
}

func (devicePlugin) ListAndWatch(_ *devices.Empty, stream devices.DevicePlugin_ListAndWatchServer) error {
	near := &devices.TopologyInfo{Nodes: []*devices.NUMANode{{ID: 1}}}
	known := []*devices.Device{
		{ID: "a", Health: devices.Healthy, Topology: near},
		{ID: "b", Health: devices.Healthy},
		{ID: "c", Health: devices.Unhealthy},
	}
	if err := stream.Send(&devices.ListAndWatchResponse{Devices: known}); err != nil {
		return err
	}
	<-stream.Context().Done()
	return nil
}

func (devicePlugin) GetPreferredAllocation(_ context.Context, request *devices.PreferredAllocationRequest) (*devices.PreferredAllocationResponse, error) {
	tell("prefer", request, nil)
	chosen := []*devices.ContainerPreferredAllocationResponse{{DeviceIDs: []string{"b"}}}
	return &devices.PreferredAllocationResponse{ContainerResponses: chosen}, nil
}

func (devicePlugin) Allocate(_ context.Context, request *devices.AllocateRequest) (*devices.AllocateResponse, error) {
	tell("allocate", request, nil)
	given := []*devices.ContainerAllocateResponse{{Envs: map[string]string{"FROM_GO": "yes"}}}
	return &devices.AllocateResponse{ContainerResponses: given}, nil
}

func (devicePlugin) PreStartContainer(_ context.Context, request *devices.PreStartContainerRequest) (*devices.PreStartContainerResponse, error) {
	tell("prestart", request, nil)
	return &devices.PreStartContainerResponse{}, nil
}

type node struct {
	csi.UnimplementedNodeServer
}

func (node) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	topology := &csi.Topology{Segments: map[string]string{"go.example/zone": "z1"}}
	return &csi.NodeGetInfoResponse{NodeId: "go-node", MaxVolumesPerNode: 7, AccessibleTopology: topology}, nil
}

func (node) NodeGetCapabilities(context.Context, *csi.NodeGetCapabilitiesRequest) (*csi.NodeGetCapabilitiesResponse, error) {
	return &csi.NodeGetCapabilitiesResponse{}, nil
}

type registrar struct {
	registration.UnimplementedRegistrationServer
}

func (registrar) GetInfo(context.Context, *registration.InfoRequest) (*registration.PluginInfo, error) {
	return &registration.PluginInfo{
		Type:              registration.CSIPlugin,
		Name:              driver,
		Endpoint:          kubelet + "/plugins/go.sock",
		SupportedVersions: []string{"1.0.0"},
	}, nil
}

func (registrar) NotifyRegistrationStatus(_ context.Context, status *registration.RegistrationStatus) (*registration.RegistrationStatusResponse, error) {
	tell("notified", status, nil)
	return &registration.RegistrationStatusResponse{}, nil
}

// open listens on a socket; an old one is taken away.
func open(path string, register func(*grpc.Server)) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		fail(err)
	}
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		fail(err)
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		fail(err)
	}
	server := grpc.NewServer()
	register(server)
	go func() { fail(server.Serve(listener)) }()
}

func dial(path string) *grpc.ClientConn {
	connection, err := grpc.NewClient("unix://"+path, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		fail(err)
	}
	return connection
}

var output sync.Mutex

// tell prints what happened.
func tell(what string, value any, err error) {
	line := map[string]any{"what": what}
	if value != nil {
		line["value"] = value
	}
	if err != nil {
		line["error"] = err.Error()
	}
	output.Lock()
	defer output.Unlock()
	if err := json.NewEncoder(os.Stdout).Encode(line); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "node-plugins:", err)
	os.Exit(1)
}

// libraryVersion is that of k8s.io/kubelet, which is what is compared here.
func libraryVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, module := range info.Deps {
		if module.Path == "k8s.io/kubelet" {
			return module.Version
		}
	}
	return "unknown"
}
