import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CONTROLLER_NAMES, canonicalControllers, isControllerEnabled } from './controller-list.ts';
import { CLOUD_FLAGS, cloudFlagHelp } from './flags.ts';
import { readSettings } from './settings.ts';

const NAMED = '--cloud-provider=acme';
const read = (...argv: string[]) => readSettings([NAMED, ...argv]);
const settings = (...argv: string[]) => {
  const { settings: found, problems } = read(...argv);
  assert.deepEqual(problems, []);
  return found;
};
const enabled = (...argv: string[]) => {
  const { controllers } = settings(...argv).cloud;
  return CONTROLLER_NAMES.filter(({ name }) => isControllerEnabled(name, controllers)).map(({ alias }) => alias);
};
const ALL = ['cloud-node', 'cloud-node-lifecycle', 'service', 'route'];

describe('--controllers', () => {
  const cases: readonly { readonly argv: readonly string[]; readonly want: readonly string[] }[] = [
    { argv: [], want: ALL },
    { argv: ['--controllers=cloud-node'], want: ['cloud-node'] },
    { argv: ['--controllers=cloud-node-controller'], want: ['cloud-node'] },
    { argv: ['--controllers=*,-route'], want: ['cloud-node', 'cloud-node-lifecycle', 'service'] },
    { argv: ['--controllers=*,-node-route-controller'], want: ['cloud-node', 'cloud-node-lifecycle', 'service'] },
    { argv: ['--controllers=-service,*'], want: ['cloud-node', 'cloud-node-lifecycle', 'route'] },
    { argv: ['--controllers=cloud-node,-cloud-node'], want: ['cloud-node'] },
    { argv: ['--controllers=-cloud-node,cloud-node'], want: [] },
    { argv: ['--controllers=-cloud-node,cloud-node-controller,*'], want: ALL.slice(1) },
    { argv: ['--controllers=service,-service,service'], want: ['service'] },
    {
      argv: ['--controllers=-service', '--controllers', '*'],
      want: ['cloud-node', 'cloud-node-lifecycle', 'route'],
    },
    { argv: ['--controllers='], want: [] },
  ];
  for (const { argv, want } of cases) {
    it(`ccm/P1, ccm/P2, ccm/C1: ${argv.join(' ') || 'without it'} runs ${want.join(', ') || 'nothing'}`, () => {
      assert.deepEqual(enabled(...argv), want);
    });
  }

  it('ccm/P1, ccm/C1: an unknown name is a problem, as it was written and without its dash', () => {
    assert.deepEqual(read('--controllers=nope,-nodeipam,*').problems, [
      '"nope" is not in the list of known controllers',
      '"nodeipam" is not in the list of known controllers',
      'known controllers: cloud-node, cloud-node-lifecycle, service, route, and * for all',
    ]);
  });

  it('ccm/P1: aliases become names, the order stays', () => {
    const entries = ['route', '*', '-cloud-node', '-service-lb-controller', '-x'];
    assert.deepEqual(canonicalControllers(entries), [
      'node-route-controller',
      '*',
      '-cloud-node-controller',
      '-service-lb-controller',
      '-x',
    ]);
  });
});

describe('flags', () => {
  /** §2.2, with the four defaults that are ours. */
  const DEFAULTS: Readonly<Record<string, string>> = {
    'cloud-provider': '',
    'cloud-config': '',
    controllers: '*',
    'controller-start-interval': '0s',
    'cluster-name': 'kubernetes',
    'cluster-cidr': '',
    'allocate-node-cidrs': 'false',
    'configure-cloud-routes': 'true',
    'cidr-allocator-type': 'RangeAllocator',
    'route-reconciliation-period': '10s',
    'node-monitor-period': '5s',
    'node-status-update-frequency': '5m',
    'concurrent-node-syncs': '100',
    'concurrent-node-status-updates': '0',
    'concurrent-node-lifecycle-syncs': '1',
    'concurrent-service-syncs': '30',
    'use-service-account-credentials': 'false',
    'allow-untagged-cloud': 'false',
    'node-sync-period': '0s',
    'external-cloud-volume-plugin': '',
    'min-resync-period': '12h',
    'kube-api-qps': '0',
    'kube-api-burst': '0',
    'kube-api-content-type': 'application/vnd.kubernetes.protobuf',
    kubeconfig: '',
    master: '',
    'leader-elect': 'true',
    'leader-elect-resource-lock': 'leases',
    'leader-elect-lease-duration': '15s',
    'leader-elect-renew-deadline': '10s',
    'leader-elect-retry-period': '2s',
    'leader-elect-resource-name': 'cloud-controller-manager',
    'leader-elect-resource-namespace': 'kube-system',
    'enable-leader-migration': 'false',
    'leader-migration-config': '',
    'secure-port': '10258',
    'bind-address': '0.0.0.0',
    'tls-cert-file': '',
    'tls-private-key-file': '',
    'cert-dir': '',
    'tls-min-version': '',
    'tls-cipher-suites': '',
    'tls-sni-cert-key': '',
    'authentication-kubeconfig': '',
    'authorization-kubeconfig': '',
    'authorization-always-allow-paths': '/healthz,/readyz,/livez',
    profiling: 'true',
    'contention-profiling': 'false',
    webhooks: '',
    'webhook-bind-address': '0.0.0.0',
    'webhook-secure-port': '10260',
    'feature-gates': '',
    v: '0',
    vmodule: '',
    'logging-format': 'text',
    version: 'false',
  };

  it('ccm/P4: every flag of upstream is there with its default, and none twice', () => {
    const found = new Map(CLOUD_FLAGS.map(({ name, default: standard }) => [name, standard]));
    assert.equal(found.size, CLOUD_FLAGS.length);
    for (const [name, standard] of Object.entries(DEFAULTS)) assert.equal(found.get(name), standard, name);
  });

  it('the help names every flag', () => {
    const help = cloudFlagHelp('slipway run cloud-controller-manager');
    for (const { name } of CLOUD_FLAGS) assert.match(help, new RegExp(`^  --${name}(?: |$)`, 'm'));
  });

  it('ccm/O11: takes what the deployments of OpenShift say', () => {
    const { election, cloud, useServiceAccountCredentials, secure } = settings(
      '--use-service-account-credentials=true',
      '--configure-cloud-routes=false',
      '--leader-elect=true',
      '--leader-elect-lease-duration=137s',
      '--leader-elect-renew-deadline=107s',
      '--leader-elect-retry-period=26s',
      '--leader-elect-resource-namespace=openshift-cloud-controller-manager',
      '--secure-port=0',
      '-v=2',
    );
    assert.deepEqual(election, {
      id: 'cloud-controller-manager',
      namespace: 'openshift-cloud-controller-manager',
      leaseMs: 137_000,
      renewMs: 107_000,
      retryMs: 26_000,
    });
    assert.deepEqual([cloud.configureCloudRoutes, useServiceAccountCredentials, secure], [false, true, undefined]);
  });

  it('reads the syntax of the programs of Kubernetes', () => {
    const { cloud, logLevel, api } = settings(
      '--cluster_name=x',
      '--cluster-cidr',
      '10.0.0.0/8, fd00::/48',
      '--v',
      '4',
      '-kube-api-qps=2.5',
    );
    assert.deepEqual(
      [cloud.clusterName, cloud.clusterCIDRs, logLevel],
      ['x', ['10.0.0.0/8', 'fd00::/48'], 'debug'],
    );
    assert.deepEqual(api.rateLimit, { qps: 2.5, burst: 30 });
    assert.equal(read('--version').isVersion, true);
    assert.equal(read('--version=raw').isVersion, true);
    assert.equal(read('-h').isHelp, true);
  });

  it('no limit on requests unless one is given; a given one is that of upstream', () => {
    assert.equal(settings().api.rateLimit, undefined);
    assert.equal(settings('--kube-api-qps=-1').api.rateLimit, undefined);
    const given = settings('--kube-api-qps=20', '--kube-api-burst=40').api.rateLimit;
    assert.deepEqual(given, { qps: 20, burst: 40 });
  });

  it('--concurrent-node-status-updates follows --concurrent-node-syncs until it is given', () => {
    assert.equal(settings('--concurrent-node-syncs=7').cloud.concurrentNodeStatusUpdates, 7);
    const given = settings('--concurrent-node-syncs=7', '--concurrent-node-status-updates=2');
    assert.equal(given.cloud.concurrentNodeStatusUpdates, 2);
  });

  it('ccm/B7: routes are watched, unless the flag or the gate of upstream says no', () => {
    const gate = 'CloudControllerManagerWatchBasedRoutesReconciliation';
    assert.equal(settings().cloud.watchRoutes, true);
    assert.equal(settings('--watch-routes=false').cloud.watchRoutes, false);
    assert.equal(settings(`--feature-gates=${gate}=false`).cloud.watchRoutes, false);
    assert.equal(settings(`--feature-gates=${gate}=true`).cloud.watchRoutes, true);
  });

  it('ccm/P6: --port is accepted as a port for health', () => {
    assert.deepEqual(settings('--port=10267', '--address=127.0.0.1').plain, { port: 10_267, host: '127.0.0.1' });
    assert.equal(settings().plain, undefined);
  });

  it('ccm/P11: TLS versions and cipher suites get their names in OpenSSL', () => {
    const { secure } = settings(
      '--tls-min-version=VersionTLS13',
      '--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_AES_128_GCM_SHA256',
      '--tls-sni-cert-key=a.crt,a.key',
      '--tls-sni-cert-key=b.crt,b.key:*.b.example,b.example',
    );
    assert.deepEqual(secure?.tls, {
      minVersion: 'TLSv1.3',
      ciphers:
        'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:ECDHE-RSA-AES128-GCM-SHA256',
      named: [
        { certFile: 'a.crt', keyFile: 'a.key', names: [] },
        { certFile: 'b.crt', keyFile: 'b.key', names: ['*.b.example', 'b.example'] },
      ],
    });
  });
});

describe('validation', () => {
  const cases: readonly { readonly argv: readonly string[]; readonly want: readonly (string | RegExp)[] }[] = [
    { argv: ['--cloud-provider='], want: ['--cloud-provider cannot be empty'] },
    { argv: ['--concurrent-node-syncs=0'], want: ['concurrent-node-syncs must be a positive number'] },
    { argv: ['--concurrent-node-syncs=-3'], want: ['concurrent-node-syncs must be a positive number'] },
    {
      argv: ['--concurrent-node-status-updates=-1'],
      want: ['concurrent-node-status-updates cannot be a negative number'],
    },
    {
      argv: ['--concurrent-node-lifecycle-syncs=0'],
      want: ['concurrent-node-lifecycle-syncs must be a positive number'],
    },
    { argv: ['--concurrent-service-syncs=0'], want: ['concurrent-service-syncs must be a positive number'] },
    { argv: ['--node-monitor-period=0s'], want: ['--node-monitor-period must be more than 0'] },
    { argv: ['--node-deletion-min-age=-1s'], want: ['--node-deletion-min-age cannot be negative'] },
    { argv: ['--leader-elect-resource-lock=endpoints'], want: ['resourceLock value must be "leases"'] },
    {
      argv: ['--leader-elect-lease-duration=5s'],
      want: [/^--leader-elect-lease-duration \(5s\) must be more than --leader-elect-renew-deadline \(10s\)$/],
    },
    { argv: ['--enable-leader-migration'], want: [/^--enable-leader-migration is not supported/] },
    { argv: ['--secure-port=70000'], want: [/^--secure-port: "70000" is not a whole number from 0 to 65535$/] },
    {
      argv: ['--webhook-secure-port=10258'],
      want: ['--webhook-secure-port must not be the same as --secure-port'],
    },
    { argv: ['--webhooks=x'], want: ['"x" is not in the list of known webhooks'] },
    { argv: ['--bind-address=localhost'], want: ['--bind-address: "localhost" is not an IP address'] },
    {
      argv: ['--tls-cert-file=a'],
      want: ['--tls-cert-file and --tls-private-key-file must be given together'],
    },
    { argv: ['--tls-cipher-suites=NOPE'], want: ["Cipher suite NOPE not supported or doesn't exist"] },
    { argv: ['--tls-min-version=1.2'], want: [/^--tls-min-version: "1.2" is none of/] },
    { argv: ['--tls-sni-cert-key=a'], want: [/^--tls-sni-cert-key: "a" is not CERT,KEY/] },
    { argv: ['--feature-gates=Nope=true'], want: [/^unrecognized feature gate: Nope; known are/] },
    { argv: ['--feature-gates=AllAlpha'], want: ['missing bool value for AllAlpha'] },
    {
      argv: ['--feature-gates=AllAlpha=maybe'],
      want: ['invalid value of AllAlpha=maybe: it is not true or false'],
    },
    { argv: ['--authorization-always-allow-paths=healthz'], want: [/"healthz" must begin with \//] },
    { argv: ['start'], want: [/^"start" is no flag/] },
    { argv: ['--', 'x'], want: [/^"--" is no flag/] },
    { argv: ['--leader-elct'], want: ['--leader-elct is not known; did you mean --leader-elect?'] },
  ];
  for (const { argv, want } of cases) {
    it(`ccm/P4, ccm/P5: ${argv.join(' ')} is refused with its reason`, () => {
      const { problems } = read(...argv);
      assert.equal(problems.length, want.length, problems.join('\n'));
      for (const [at, one] of want.entries()) {
        if (typeof one === 'string') assert.equal(problems[at], one);
        else assert.match(problems[at] ?? '', one);
      }
    });
  }

  it('ccm/P4: everything that is wrong is said together', () => {
    const { problems } = readSettings(['--controllers=nope', '--concurrent-node-syncs=0', '--nope=1', 'word']);
    assert.equal(problems.length, 6, problems.join('\n'));
  });

  it('without leader election, its times do not matter', () => {
    settings('--leader-elect=false', '--leader-elect-lease-duration=1s', '--leader-elect-resource-lock=endpoints');
  });
});
