import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { acmeDefinition } from '../../../test/support/acme-definition.ts';
import { addCloudNode, machine, taintsOf } from '../../../test/support/cloud-nodes.ts';
import { grant, programNeeds, startProgram } from '../../../test/support/cloud-program.ts';
import { Lease } from '../../api/generated/coordination-v1.ts';
import { Event, Node } from '../../api/generated/core-v1.ts';
import { VirtualClock } from '../../base/clock.ts';
import { SILENT_LOG } from '../../base/log.ts';
import type { Need } from '../../kube/rbac/need.ts';
import type { Transport } from '../../kube/transport/transport.ts';
import type { ConnectContext, ProviderInput } from '../../sdk/provider/provider-definition.ts';
import { ProviderError } from '../../sdk/provider/provider-error.ts';
import { FakeCloud } from '../../testing/fake-cloud.ts';
import { TestEnv } from '../../testing/test-env.ts';
import { cloudControllerManager } from '../index.ts';

const UNINITIALIZED = 'node.cloudprovider.kubernetes.io/uninitialized';
const LEASE = { namespace: 'kube-system', name: 'cloud-controller-manager' };
const tainted = { spec: { taints: [{ key: UNINITIALIZED, value: 'true', effect: 'NoSchedule' }] } } as const;

function acme(overrides: Partial<ProviderInput<unknown>> = {}) {
  const cloud = new FakeCloud();
  const { capabilities } = cloud;
  const providerID = { scheme: 'fake', format: '{id}', pattern: /^fake:\/\/.+$/ };
  return { cloud, definition: acmeDefinition({ providerID, capabilities, ...overrides }) };
}

async function withNode(env: TestEnv, cloud: FakeCloud, name = 'n1') {
  cloud.instances.set(name, machine('on', name));
  await addCloudNode(env, name, tainted);
}

const isTainted = async (env: TestEnv, name = 'n1') =>
  (await taintsOf(env, name)).some(({ key }) => key === UNINITIALIZED);

describe('cloud controller manager', () => {
  it('ccm/P10, ccm/O17: in bootstrap mode initialises nodes without reading or writing a Lease', async () => {
    await using env = await TestEnv.start();
    const { cloud, definition } = acme();
    await withNode(env, cloud);
    const argv = ['--controllers=cloud-node', '--leader-elect=false', '--use-service-account-credentials=false'];
    await using program = await startProgram(env, { definition, argv });
    await env.settle();
    assert.equal(await isTainted(env), false, program.lines.join(''));
    const leases = env.recorder.requests.filter(({ target }) => target.includes('leases'));
    assert.deepEqual(leases, []);
    assert.deepEqual(cloud.callsOf('loadBalancers.ensure'), []);
    program.stop();
    assert.equal(await env.throughTime(program.exit), 0);
  });

  it('ccm/P9: of two, one leads; when it stops, the other one takes over', async () => {
    await using env = await TestEnv.start();
    const { cloud, definition } = acme();
    await using first = await startProgram(env, { definition, name: 'one' });
    await env.settle();
    await using second = await startProgram(env, { definition, name: 'two' });
    await env.advance(30_000);
    const holder = async () => (await env.client.get(Lease, LEASE)).spec?.holderIdentity ?? '';
    assert.match(await holder(), /^one_[0-9a-f-]{36}$/);
    assert.ok(!second.lines.some((line) => line.includes('Started controller')));
    first.stop();
    assert.equal(await env.throughTime(first.exit), 0);
    await withNode(env, cloud);
    await env.advance(30_000);
    assert.match(await holder(), /^two_/);
    assert.equal(await isTainted(env), false);
  });

  it('ccm/P9: a lost lease ends the process with code 1', async () => {
    await using env = await TestEnv.start();
    const { definition } = acme();
    await using program = await startProgram(env, { definition });
    await env.settle();
    const body = { spec: { holderIdentity: 'somebody_else' } };
    await env.client.patch(Lease, LEASE, { type: 'merge', body });
    assert.equal(await env.throughTime(program.exit), 1);
    const last = program.lines.filter((line) => line.includes('Stopped because of a failure'));
    assert.match(last.join(''), /LeaderElectionLost.*somebody_else holds it now.*"exitCode":1/);
  });

  it('ccm/P13, ccm/S17: each controller has its own user agent, field manager and source of events', async () => {
    await using env = await TestEnv.start();
    const { cloud, definition } = acme();
    await withNode(env, cloud);
    const agents = new Map<string, string | undefined>();
    const bare = env.transportFor('ccm');
    const kube: Transport = (request) => {
      agents.set(`${request.method} ${request.target.split('?')[0]}`, request.headers?.['user-agent']);
      return bare(request);
    };
    await using _program = await startProgram(env, { definition, kube });
    await env.settle();
    const { metadata } = await env.client.get(Node, { name: 'n1' });
    const managers = (metadata.managedFields ?? []).map(({ manager }) => manager);
    assert.ok(managers.includes('slipway/cloud-controller-manager/cloud-node-controller'), managers.join());
    const { items } = await env.client.live.list(Event);
    const sources = new Map(items.map(({ reason, source }) => [reason, source?.component]));
    assert.equal(sources.get('Synced'), 'cloud-node-controller');
    assert.equal(sources.get('LeaderElection'), 'cloud-controller-manager');
    const agent = /^cloud-controller-manager\/0\.0\.0 \(.+\) slipway\/0\.0\.0\/node-controller$/;
    assert.match(agents.get('PUT /api/v1/nodes/n1') ?? '', agent);
  });

  it('ccm/P3: a controller without its capability is skipped with a warning, the others run', async () => {
    await using env = await TestEnv.start();
    const cloud = new FakeCloud();
    const { definition } = acme({ capabilities: { instances: cloud.capabilities.instances } });
    await withNode(env, cloud);
    await using program = await startProgram(env, { definition });
    await env.settle();
    assert.equal(await isTainted(env), false);
    const skipped = program.lines.filter((line) => line.includes('Controller is skipped'));
    assert.equal(skipped.length, 2, program.lines.join(''));
    assert.match(skipped.join(''), /service-lb-controller.*node-route-controller/s);
  });

  it('ccm/P2: waits between the starts of two controllers, one to two times the interval', async () => {
    await using env = await TestEnv.start();
    const { definition } = acme();
    await using program = await startProgram(env, { definition, argv: ['--controller-start-interval=10s'] });
    const started = () => program.lines.filter((line) => line.includes('Started controller')).length;
    await env.settle();
    const counts = [started()];
    for (const ms of [9999, 10_001, 20_000]) {
      await env.advance(ms);
      counts.push(started());
    }
    assert.deepEqual(counts, [1, 1, 2, 3]);
  });
});

describe('what cannot be started', () => {
  const refused = async (setup: Parameters<typeof startProgram>[1]) => {
    await using env = await TestEnv.start({ log: SILENT_LOG });
    await using program = await startProgram(env, { granted: [], ...setup });
    const code = await program.exit;
    assert.deepEqual(env.recorder.requests, [], 'nothing is started');
    return { code, text: program.lines.join('') };
  };

  it('ccm/P4: wrong flags end with code 2 and all problems, and nothing is started', async () => {
    const { definition } = acme();
    const { code, text } = await refused({
      definition,
      argv: ['--controllers=nope', '--concurrent-node-syncs=0'],
    });
    assert.equal(code, 2);
    assert.equal(
      text,
      'cloud-controller-manager: "nope" is not in the list of known controllers\nknown controllers: cloud-node, cloud-node-lifecycle, service, route, and * for all\nconcurrent-node-syncs must be a positive number\n--help lists all flags\n',
    );
  });

  const absent = { findProvider: () => Promise.resolve(undefined) };
  const cases = [
    {
      name: 'an unknown provider',
      argv: ['--cloud-provider=nope'],
      ...absent,
      want: /unknown cloud provider \\"nope\\"/,
    },
    {
      name: 'a definition of another name',
      argv: ['--cloud-provider=nope', '--provider=./x'],
      want: /unknown cloud provider \\"nope\\"; \.\/x defines \\"acme\\"/,
    },
    {
      name: 'the word external',
      argv: ['--cloud-provider=external'],
      want: /--cloud-provider=external is for kubelets/,
    },
    {
      name: 'a cloud config that cannot be read',
      argv: ['--cloud-config=/nonexistent/cloud.conf'],
      want: /couldn't open cloud provider configuration \/nonexistent\/cloud\.conf: ENOENT/,
    },
    {
      name: 'a cloud config that is a folder',
      argv: ['--cloud-config=/'],
      want: /couldn't open cloud provider configuration \/: EISDIR/,
    },
    {
      name: 'a folder with credentials that is a file',
      argv: ['--credentials-dir=/dev/null'],
      definition: acme({ secrets: ['ACME_KEY'] }).definition,
      want: /ENOTDIR.*\/dev\/null\/ACME_KEY.*, for --credentials-dir/,
    },
    {
      name: 'a range of pods that is none',
      argv: ['--configure-cloud-routes=true', '--cluster-cidr=x'],
      want: /Cannot start/,
      granted: [],
    },
  ];
  for (const { name, want, ...setup } of cases) {
    it(`ccm/P7, ccm/T1: ${name} ends with code 2 and says why`, async () => {
      const { code, text } = await refused({ definition: acme().definition, ...setup });
      assert.equal(code, 2, text);
      assert.match(text, want);
    });
  }
});

describe('the provider', () => {
  const leading = async (overrides: Partial<ProviderInput<unknown>>, argv: readonly string[] = [], env = {}) => {
    await using api = await TestEnv.start();
    const { definition } = acme(overrides);
    await using program = await startProgram(api, { definition, argv, env });
    await api.settle();
    program.stop();
    const code = await api.throughTime(program.exit);
    return { code, text: program.lines.join('') };
  };

  it('ccm/P8: without an id of the cluster ends with code 2, unless it may be without', async () => {
    const connect = () => ({ client: undefined, clusterId: undefined });
    const { code, text } = await leading({ connect });
    assert.equal(code, 2);
    assert.match(text, /NoClusterId.*--allow-untagged-cloud/);
    const allowed = await leading({ connect }, ['--allow-untagged-cloud']);
    assert.equal(allowed.code, 0);
    assert.match(allowed.text, /"level":"warn".*knows no id of the cluster/);
  });

  it('ccm/P7: gets the text of its config or undefined, and the variables that it lists', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ccm-config-'));
    const file = join(folder, 'cloud.conf');
    await writeFile(file, '');
    const seen: unknown[] = [];
    const connect = (context: ConnectContext) => {
      seen.push([context.config, context.secret('ACME_KEY')]);
      assert.throws(() => context.secret('PATH'), 'it is not in the list');
      return { client: undefined, clusterId: 'x' };
    };
    const secrets = ['ACME_KEY'];
    await leading({ connect, secrets }, [], { ACME_KEY: 'k', PATH: '/bin' });
    await leading({ connect, secrets }, [`--cloud-config=${file}`]);
    assert.deepEqual(seen, [
      [undefined, 'k'],
      ['', undefined],
    ]);
    await rm(folder, { recursive: true });
  });

  it('ccm/O17: gets its variables from the files of --credentials-dir, which win over the environment', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ccm-config-'));
    await writeFile(join(folder, 'ACME_KEY'), 'of the file');
    const seen: unknown[] = [];
    const connect = (context: ConnectContext) => {
      seen.push(context.secret('ACME_KEY'), context.secret('ACME_ID'));
      return { client: undefined, clusterId: 'x' };
    };
    const env = { ACME_KEY: 'of the environment', ACME_ID: 'id' };
    await leading({ connect, secrets: ['ACME_KEY', 'ACME_ID'] }, [`--credentials-dir=${folder}`], env);
    assert.deepEqual(seen, ['of the file', 'id']);
    await rm(folder, { recursive: true });
  });

  it('ccm/P7: a configuration that it refuses ends the process with code 2, and the message names file and field', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ccm-config-'));
    const file = join(folder, 'cloud.conf');
    await writeFile(file, 'endpoint: nowhere');
    const connect = () => Promise.reject(new ProviderError('invalid', 'endpoint: must be a URL'));
    const { code, text } = await leading({ connect }, [`--cloud-config=${file}`]);
    await rm(folder, { recursive: true });
    assert.equal(code, 2);
    assert.ok(text.includes(`endpoint: must be a URL (--cloud-config=${file})`), text);
    const without = await leading({ connect });
    assert.doesNotMatch(without.text, /--cloud-config/);
  });

  it('that cannot connect ends the process with code 1, and is closed when it can', async () => {
    const { code, text } = await leading({ connect: () => Promise.reject(new Error('wrong key')) });
    assert.equal(code, 1);
    assert.match(text, /wrong key/);
    let closed = 0;
    const close = async () => void closed++;
    await leading({ connect: () => ({ client: undefined, clusterId: 'x', close }) });
    assert.equal(closed, 1);
  });
});

describe('the API server', () => {
  it('ccm/P9, lab/T6: gets ten seconds of real time to be healthy, however fast that of the program passes', async () => {
    await using env = await TestEnv.start({ log: SILENT_LOG });
    const { definition } = acme();
    const host = new VirtualClock();
    const bare = env.transportFor('ccm');
    const kube: Transport = (request) =>
      request.target === '/healthz' ? Promise.reject(new Error('it starts')) : bare(request);
    await using program = await startProgram(env, { definition, kube, host });
    await env.advance(600_000);
    assert.ok(!program.lines.some((line) => line.includes('ApiServerUnhealthy')), program.lines.join(''));
    await host.advance(20_000);
    assert.equal(await env.throughTime(program.exit), 1);
    assert.match(program.lines.join(''), /ApiServerUnhealthy.*the API server is not healthy: it starts/);
  });

  it('ccm/P9, lab/T6: gets a second of real time to answer', async () => {
    await using env = await TestEnv.start({ log: SILENT_LOG });
    const { definition } = acme();
    const host = new VirtualClock();
    const bare = env.transportFor('ccm');
    const kube: Transport = (request) => (request.target === '/healthz' ? silent(request.signal) : bare(request));
    await using program = await startProgram(env, { definition, kube, host });
    await env.settle();
    await host.advance(20_000);
    assert.equal(await env.throughTime(program.exit), 1);
    assert.match(program.lines.join(''), /the API server is not healthy: no answer within 1s/);
  });

  /** Rejects when nobody wants the answer any more. */
  const silent = (signal: AbortSignal | undefined): Promise<never> =>
    new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
});

describe('permissions', () => {
  it('ccm/B10: what is missing is in the log from the start, and the program waits until it is granted', async () => {
    await using env = await TestEnv.start({ log: SILENT_LOG, allowsForbidden: true });
    const { cloud, definition } = acme();
    await withNode(env, cloud);
    const all = programNeeds({ definition });
    const granted: readonly Need[] = all
      .filter(({ resource }) => resource !== 'services')
      .map((need) => ({ ...need, verbs: need.verbs.filter((verb) => verb !== 'delete') }));
    await using program = await startProgram(env, { definition, granted });
    await env.settle();
    const missing = program.lines.filter((line) => line.includes('Permissions are missing'));
    assert.equal(missing.length, 1);
    assert.match(missing[0] ?? '', /get, list, watch services in the whole cluster/);
    assert.match(missing[0] ?? '', /delete nodes in the whole cluster/);
    await env.advance(600_000);
    assert.equal(await isTainted(env), true, 'nothing runs that could not read');
    await grant(env, 'ccm', [...granted, ...all.filter(({ resource }) => resource === 'services')]);
    await env.advance(30_000);
    assert.equal(await isTainted(env), false, 'a missing right to write holds nothing back');
    await grant(env, 'ccm', all);
    await env.advance(30_000);
    assert.ok(program.lines.some((line) => line.includes('Got all permissions')));
  });
});

describe('the words of the program', () => {
  it('prints its flags or its version, and starts nothing', async () => {
    await using env = await TestEnv.start();
    const { definition } = acme();
    await using help = await startProgram(env, { definition, argv: ['--help'] });
    await using version = await startProgram(env, { definition, argv: ['--version'] });
    assert.deepEqual([await help.exit, await version.exit], [0, 0]);
    assert.match(help.out.join(''), /^Usage: cloud-controller-manager \[flags\]/);
    assert.equal(version.out.join(''), 'cloud-controller-manager of Slipway 0.0.0\n');
    assert.deepEqual(env.recorder.requests, []);
    assert.equal(cloudControllerManager.acronym, 'CCM');
  });

  it('ccm/P6: warns of flags that are going away', async () => {
    await using env = await TestEnv.start();
    const { definition } = acme();
    await using program = await startProgram(env, { definition, argv: ['--node-sync-period=10s'] });
    await env.settle();
    assert.match(program.lines[0] ?? '', /--node-sync-period.*Flags are deprecated/);
  });
});
