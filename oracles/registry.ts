import type { VersionRange } from './version.ts';

/** A program of a Go module that one of our own modules under `oracles/` names as a dependency. */
export interface GoSource {
  readonly kind: 'go';
  /** Folder under `oracles/` with the go.mod. */
  readonly module:
    | 'cloud-provider'
    | 'cluster-api'
    | 'controller-runtime'
    | 'etcd'
    | 'ignition'
    | 'kubernetes'
    | 'node-plugins';
  /** Import path of the main package. */
  readonly package: string;
  /** The dependency whose version is linked into these packages, for programs that read it from the linker only. */
  readonly stamp?: { readonly from: string; readonly packages: readonly string[] };
}

export interface NpmSource {
  readonly kind: 'npm';
  /** `{arch}` is replaced by the processor type in npm's spelling. */
  readonly package: string;
  readonly version: string;
  /** The program inside the installed package. */
  readonly file: string;
}

export interface DebianSource {
  readonly kind: 'debian';
  readonly package: string;
}

/** A known defect: suites whose minimum excludes these versions are told why. */
export interface Flaw {
  readonly versions: readonly VersionRange[];
  readonly reason: string;
}

/** A program nobody here wrote. */
export interface Oracle {
  readonly name: string;
  readonly source: GoSource | NpmSource | DebianSource;
  readonly versionArguments: readonly string[];
  readonly supported: VersionRange;
  readonly flaws?: readonly Flaw[];
  /** Name on PATH where it differs. Several versions answer to it, so a hit there counts only when it is in range. */
  readonly pathName?: string;
}

/** The three Kubernetes minors that upstream supports together with the pinned one, and the next. */
const KUBERNETES_RANGE: VersionRange = { min: '1.34', below: '1.38' };

function kubernetesProgram(name: string, versionArguments: readonly string[]): Oracle {
  return {
    name,
    source: {
      kind: 'go',
      module: 'kubernetes',
      package: `k8s.io/kubernetes/cmd/${name}`,
      stamp: {
        from: 'k8s.io/kubernetes',
        packages: ['k8s.io/client-go/pkg/version', 'k8s.io/component-base/version'],
      },
    },
    versionArguments,
    supported: KUBERNETES_RANGE,
  };
}

/** An old Node: our launcher must hand over to a newer one, or say why it cannot. */
function oldNode(major: number, version: string): Oracle {
  return {
    name: `node-${major}`,
    source: { kind: 'npm', package: 'node-linux-{arch}', version, file: 'bin/node' },
    versionArguments: ['--version'],
    supported: { min: `${major}.0`, below: `${major + 1}.0` },
    pathName: 'node',
  };
}

export const ORACLES: readonly Oracle[] = [
  {
    name: 'etcd',
    source: { kind: 'go', module: 'etcd', package: '.' },
    versionArguments: ['--version'],
    supported: { min: '3.4' },
    flaws: [
      {
        // k8s.io/apiserver v0.36.3, pkg/storage/feature/feature_support_checker.go.
        versions: [{ below: '3.4.31' }, { min: '3.5.0', below: '3.5.13' }],
        reason: 'watch-list requests fail with "the required storage feature RequestWatchProgress is disabled"',
      },
    ],
  },
  kubernetesProgram('kube-apiserver', ['--version']),
  kubernetesProgram('kube-controller-manager', ['--version']),
  kubernetesProgram('kube-scheduler', ['--version']),
  kubernetesProgram('kubectl', ['version', '--client']),
  { name: 'strace', source: { kind: 'debian', package: 'strace' }, versionArguments: ['-V'], supported: {} },
  {
    // Our own program; what nobody here wrote is the library in it, whose version it answers.
    name: 'controller-runtime',
    source: { kind: 'go', module: 'controller-runtime', package: '.' },
    versionArguments: ['version'],
    supported: { min: '0.24', below: '0.26' },
  },
  {
    // Our own program as well: a cloud of ours under the framework that nobody here wrote.
    name: 'cloud-provider',
    source: { kind: 'go', module: 'cloud-provider', package: '.' },
    versionArguments: ['version'],
    supported: { min: '0.34', below: '0.38' },
  },
  {
    // Our own program as well: what nobody here wrote are the packages that plugins of kubelets are made with.
    name: 'node-plugins',
    source: { kind: 'go', module: 'node-plugins', package: '.' },
    versionArguments: ['version'],
    supported: { min: '0.34', below: '0.38' },
  },
  {
    // Says no version itself; go.mod does.
    name: 'cluster-api-core',
    source: { kind: 'go', module: 'cluster-api', package: 'sigs.k8s.io/cluster-api/core' },
    versionArguments: ['--help'],
    supported: {},
  },
  {
    name: 'clusterctl',
    source: {
      kind: 'go',
      module: 'cluster-api',
      package: 'sigs.k8s.io/cluster-api/cmd/clusterctl',
      stamp: { from: 'sigs.k8s.io/cluster-api', packages: ['sigs.k8s.io/cluster-api/version'] },
    },
    versionArguments: ['version', '--output=short'],
    supported: { min: '1.11' },
  },
  {
    // Our own program as well: what nobody here wrote reads the configs of hosts, and merges them.
    name: 'ignition',
    source: { kind: 'go', module: 'ignition', package: '.' },
    versionArguments: ['version'],
    supported: { min: '2.18', below: '3.0' },
  },
  {
    name: 'docker-registry',
    source: { kind: 'debian', package: 'docker-registry' },
    versionArguments: ['--version'],
    supported: { min: '2.7' },
  },
  { name: 'tmux', source: { kind: 'debian', package: 'tmux' }, versionArguments: ['-V'], supported: {} },
  oldNode(20, '20.20.2'),
  oldNode(16, '16.20.2'),
];
