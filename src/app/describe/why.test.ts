import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { brokenReferences, factsOf, healthy } from '../../../test/support/described-clusters.ts';
import {
  AT,
  ago,
  cluster,
  condition,
  controlPlane,
  deployment,
  install,
  type MachineShape,
  machineObjects,
  metal3Cluster,
  NAME,
  node,
  object,
} from '../../../test/support/described-objects.ts';
import type { KubeObject } from '../../api/object.ts';
import { hostState } from './host-state.ts';
import { nextAction } from './next-action.ts';
import { clusterReport } from './report.ts';
import { causesIn, labelOf, type Row, rowsIn } from './row.ts';
import { clusterTree } from './tree.ts';

/** The row with that label in a cluster of these objects. */
function rowIn(label: string, objects: readonly KubeObject[], nodes?: readonly KubeObject[]): Row {
  const root = clusterTree(factsOf({ objects, ...(nodes !== undefined && { nodes }) }));
  const found = rowsIn(root).find((row) => labelOf(row) === label);
  return found ?? assert.fail(`no ${label} in ${rowsIn(root).map(labelOf).join(', ')}`);
}

const told = ({ health, word, why }: Row): string => `${health} ${word}${why === undefined ? '' : `: ${why}`}`;

const base = (): readonly KubeObject[] => [cluster(), metal3Cluster(), controlPlane(), install('adding-hosts')];

const worker = (shape: MachineShape): readonly KubeObject[] => [
  ...base(),
  deployment(1, 0),
  ...machineObjects('w-0', { phase: 'Provisioning', hasNode: false, minutes: 2, ...shape }),
];

const waits = (reason: string, message = '') => ({
  conditions: [
    condition('Ready', 'False', 2, { reason, message }),
    condition('DataSecretAvailable', 'False', 2, { reason, message }),
  ],
});

describe('why a config has no bootstrap data', () => {
  const cases: readonly (readonly [reason: string, message: string, want: string])[] = [
    [
      'WaitingForClusterInfrastructure',
      '',
      'waiting no data yet: waits for the infrastructure of the Cluster to be provisioned',
    ],
    [
      'WaitingForAssistedInstaller',
      '',
      'waiting no data yet: waits for the installation to be registered with assisted-service',
    ],
    [
      'WaitingForAssistedInstaller',
      'failed retrieving ignition: 503',
      'attention no data: failed retrieving ignition: 503',
    ],
    [
      'WaitingForInstallComplete',
      '',
      'waiting held: an installation is in progress; the machine is added when it is over',
    ],
    [
      'WaitingForInfraEnvToBeReady',
      'eventsURL not generated yet',
      'waiting no data yet: eventsURL not generated yet',
    ],
    ['WaitingForLiveISOURL', '', 'waiting no data yet: waits for the address of the ISO of its InfraEnv'],
    ['WaitingForInfrastructureMachine', '', 'waiting no data yet: waits for its infrastructure machine'],
    ['InfraEnvFailed', 'the name is taken', 'failed failed: the name is taken'],
    ['CreatingSecretFailed', '', 'failed failed: the bootstrap Secret cannot be made'],
    ['InvalidBootMethod', 'write ignition or live-iso', 'failed failed: write ignition or live-iso'],
    ['UnsupportedInfrastructure', 'no image field', 'failed failed: no image field'],
  ];
  for (const [reason, message, want] of cases) {
    it(`experience/X44: ${reason}${message === '' ? '' : ` (${message})`}`, () => {
      const row = rowIn('OpenshiftAssistedConfig/w-0', worker({ config: waits(reason, message), agent: 'none' }));
      assert.equal(told(row), want);
    });
  }

  it('tells of Agents that nobody owns although the data is there', () => {
    const config = {
      initialization: { dataSecretCreated: true },
      conditions: [
        condition('Ready', 'True', 2),
        condition('AgentsMatched', 'False', 1, {
          reason: 'AgentWithoutMachine',
          message: 'Agent x belongs to no Machine',
        }),
      ],
    };
    const row = rowIn('OpenshiftAssistedConfig/w-0', worker({ config }));
    assert.equal(told(row), 'attention secret ready: Agent x belongs to no Machine');
  });
});

describe('why an Agent is not installed', () => {
  const cases: readonly (readonly [name: string, agent: Record<string, unknown>, want: string])[] = [
    [
      'not approved',
      { spec: { approved: false }, debugInfo: { state: 'known' } },
      'attention not approved: nobody has approved it; agent-bootstrap does when its Machine is known',
    ],
    [
      'without a Machine',
      {
        spec: { approved: false },
        metadata: { annotations: { 'bootstrap.cluster.x-k8s.io/machine': '' } },
        debugInfo: { state: 'known' },
      },
      'attention not approved: it belongs to no Machine, so it is not installed',
    ],
    [
      'insufficient',
      {
        debugInfo: { state: 'insufficient', stateInfo: 'x' },
        conditions: [condition('Validated', 'False', 1, { message: 'needs 16 GiB of memory, has 8' })],
      },
      'attention insufficient: needs 16 GiB of memory, has 8',
    ],
    [
      'failed',
      { debugInfo: { state: 'error', stateInfo: 'the disk cannot be written' } },
      'failed failed: the disk cannot be written',
    ],
    [
      'in need of somebody',
      { debugInfo: { state: 'installing-pending-user-action', stateInfo: 'it booted the image again' } },
      'attention installing pending user action: it booted the image again',
    ],
    [
      'disconnected',
      { debugInfo: { state: 'disconnected', stateInfo: 'no word for 3 m' } },
      'attention disconnected: no word for 3 m',
    ],
    [
      'with a spec that was refused',
      {
        debugInfo: { state: 'known' },
        conditions: [condition('SpecSynced', 'False', 1, { message: 'no ignition config' })],
      },
      'attention spec refused: no ignition config',
    ],
    ['known', { debugInfo: { state: 'known' } }, 'waiting known: waits for the installation to begin'],
    ['discovering', { debugInfo: { state: 'discovering' } }, 'working discovering'],
    [
      'installing',
      {
        debugInfo: { state: 'installing-in-progress' },
        progress: { currentStage: 'Rebooting', installationPercentage: 70 },
      },
      'working installing: Rebooting, 70 %',
    ],
    ['done', { debugInfo: { state: 'added-to-existing-cluster' } }, 'done installed'],
  ];
  for (const [name, agent, want] of cases) {
    it(`is told of one that is ${name}`, () => {
      assert.equal(told(rowIn('Agent/agent-w-0', worker({ agent }))), want);
    });
  }

  it('says that a host comes after the installation when one is in progress', () => {
    const agent = { spec: { approved: false }, debugInfo: { state: 'known' } };
    const objects = worker({ agent }).map((one) =>
      one.kind === 'AgentClusterInstall' ? install('installing') : one,
    );
    assert.match(told(rowIn('Agent/agent-w-0', objects)), /^waiting held: an installation is in progress/);
  });

  it('wonders where an Agent is whose host was provisioned long ago', () => {
    const host = { lastUpdated: ago(25) };
    assert.match(
      told(rowIn('Agent', worker({ agent: 'none', host }))),
      /^attention none yet: its host was provisioned 25 m ago/,
    );
    assert.equal(told(rowIn('Agent', worker({ agent: 'none' }))), 'waiting none yet: expected ≤ 90 s after boot');
  });
});

describe('why a host does not work', () => {
  const host = (spec: Record<string, unknown>, status: Record<string, unknown>) =>
    hostState(
      object('metal3.io/v1alpha1', 'BareMetalHost', 'rack', {
        spec: { bmc: { address: 'redfish://bmc', credentialsName: 'bmc-rack' }, ...spec },
        status: { operationalStatus: 'OK', ...status },
      }),
      AT,
    );
  const at = (state: string, more = {}) => ({ provisioning: { state }, poweredOn: true, ...more });

  it('names the Secret when credentials are refused, and the command to mend it', () => {
    const state = host(
      {},
      { ...at('registering'), errorMessage: 'Unauthorized', errorType: 'registration error' },
    );
    assert.equal(state.why, 'Unauthorized: check credentials Secret bmc-rack');
    assert.equal(state.word, 'registration error');
    assert.equal(state.next, 'kubectl -n acme edit secret bmc-rack');
  });

  it('repeats any other error as it is', () => {
    const state = host({}, { ...at('provisioning'), errorMessage: 'checksum differs' });
    assert.deepEqual([state.health, state.why], ['failed', 'checksum differs']);
  });

  it('tells whether it is off because somebody wants it so', () => {
    const off = { ...at('provisioned'), poweredOn: false };
    assert.equal(host({ online: false }, off).why, 'spec.online is false');
    assert.match(host({ online: false }, off).next ?? '', /patch baremetalhost rack .*"online":true/);
    assert.equal(host({ online: true }, off).why, 'it should be on, and is not');
  });

  const others = [
    ['available', 'waiting available'],
    ['inspecting', 'working inspecting'],
    ['unmanaged', 'attention unmanaged'],
    ['provisioned', 'done provisioned'],
    ['', 'waiting not registered'],
  ] as const;
  for (const [state, want] of others) {
    it(`knows the state "${state}"`, () => {
      const { health, word } = host({ online: true }, at(state));
      assert.equal(`${health} ${word}`, want);
    });
  }

  it('counts the hosts that are free when none was chosen', () => {
    const infrastructure = {
      conditions: [condition('AssociateBareMetalHost', 'False', 2, { reason: 'AssociateBareMetalHostFailed' })],
    };
    const objects = worker({ agent: 'none', host: 'none', infrastructure });
    const row = rowIn('Metal3Machine/w-0', objects);
    assert.equal(told(row), 'attention no host: no BareMetalHost was chosen: 0 of 0 in namespace acme are free');
    assert.match(row.next ?? '', /^add a BareMetalHost to namespace acme/);
  });

  for (const { by, metadata } of [
    { by: 'its label', metadata: { name: 'any', labels: { 'metal3.io/uuid': 'BareMetalHost-host-w-0' } } },
    { by: 'its name', metadata: { name: 'host-w-0' } },
  ])
    it(`a Node of the host, known by ${by}, has the provider ID of a cloud`, () => {
      const node = (providerID: string) =>
        object('v1', 'Node', metadata.name, { metadata, spec: { providerID }, status: {} });
      const objects = worker({ infrastructure: { initialization: { provisioned: false } } });
      const row = (providerID: string) => rowIn('Metal3Machine/w-0', objects, [node(providerID)]);
      const found = row('acme-cloud://a/i-1');
      assert.equal(
        told(found),
        `attention not linked: Node ${metadata.name} has provider ID acme-cloud://a/i-1, not one of Metal3`,
      );
      assert.match(found.next ?? '', /^the cluster works without it; /);
      for (const one of ['', 'metal3://acme/host-w-0/w-0']) assert.notEqual(row(one).word, 'not linked');
    });
});

describe('why an installation does not begin', () => {
  const cases: readonly (readonly [name: string, made: KubeObject, want: string])[] = [
    [
      'that nobody has registered',
      install('', { conditions: [] }),
      'waiting not registered: assisted-service has not looked at it',
    ],
    [
      'that has too few hosts',
      install('ready', {
        conditions: [
          condition('RequirementsMet', 'False', 1, {
            reason: 'InsufficientAgents',
            message: '3 hosts are needed, 2 have registered',
          }),
        ],
      }),
      'waiting ready: 3 hosts are needed, 2 have registered',
    ],
    [
      'that has too many hosts',
      install('ready', {
        conditions: [
          condition('RequirementsMet', 'False', 1, {
            reason: 'AdditionalAgents',
            message: '3 hosts are needed, 4 have registered',
          }),
        ],
      }),
      'attention ready: 3 hosts are needed, 4 have registered',
    ],
    [
      'on hold',
      install('ready', {}, { holdInstallation: true }),
      'attention on hold: spec.holdInstallation is true',
    ],
    [
      'whose spec was refused',
      install('insufficient', {
        conditions: [condition('SpecSynced', 'False', 1, { message: 'the release image is unknown' })],
      }),
      'failed spec refused: the release image is unknown',
    ],
    [
      'that failed',
      install('error', { debugInfo: { state: 'error', stateInfo: 'two hosts failed' } }),
      'failed failed: two hosts failed',
    ],
    ['that was cancelled', install('cancelled'), 'failed cancelled: assisted-service gives no cause'],
    ['that goes on', install('finalizing', { progress: { totalPercentage: 90 } }), 'working finalizing: 90 %'],
  ];
  for (const [name, made, want] of cases) {
    it(`tells of one ${name}`, () => {
      const objects = base().map((one) => (one.kind === 'AgentClusterInstall' ? made : one));
      assert.equal(told(rowIn('AgentClusterInstall/acme-lab', objects)), want);
    });
  }
});

describe('why a control plane does not come up', () => {
  const withStatus = (status: Record<string, unknown>) =>
    base().map((one) => (one.kind === 'OpenshiftAssistedControlPlane' ? controlPlane(status) : one));
  const failing = (type: string, reason: string, message: string) =>
    withStatus({
      initialization: {},
      readyReplicas: 0,
      conditions: [condition(type, 'False', 3, { reason, message })],
    });

  it('names the pull secret that is to be mended', () => {
    const row = rowIn(
      'OpenshiftAssistedControlPlane/acme-lab',
      failing('KubernetesVersionAvailable', 'KubernetesVersionUnavailable', 'the pull secret is no JSON'),
    );
    assert.equal(told(row), 'failed 0/3 ready: the pull secret is no JSON');
    assert.equal(row.next, 'kubectl -n acme edit secret pull-secret');
  });

  it('names the template that Machines cannot be made from', () => {
    const row = rowIn(
      'OpenshiftAssistedControlPlane/acme-lab',
      failing('MachinesCreated', 'InfrastructureTemplateCloningFailed', 'cp does not exist'),
    );
    assert.match(row.next ?? '', /^correct Metal3MachineTemplate cp/);
  });

  it('does not take a kubeconfig that is not there yet for a failure', () => {
    const row = rowIn(
      'OpenshiftAssistedControlPlane/acme-lab',
      failing('KubeconfigAvailable', 'KubeconfigUnavailable', ''),
    );
    assert.equal(row.health, 'working');
  });

  it('waits for the infrastructure in its own words', () => {
    const row = rowIn(
      'OpenshiftAssistedControlPlane/acme-lab',
      failing('MachinesCreated', 'WaitingForClusterInfrastructure', 'not provisioned yet'),
    );
    assert.equal(told(row), 'working 0/3 ready: not provisioned yet');
  });
});

describe('why a Machine does not run', () => {
  it('names the part that is wrong', () => {
    const row = rowIn('Machine/w-0', worker({ agent: { debugInfo: { state: 'error', stateInfo: 'no disk' } } }));
    assert.equal(told(row), 'attention provisioning: Agent/agent-w-0: failed');
  });

  it('names the step that it is at', () => {
    const host = { provisioning: { state: 'inspecting' } };
    assert.equal(
      told(rowIn('Machine/w-0', worker({ host }))),
      'working provisioning: waiting for its host: inspecting',
    );
    const config = waits('WaitingForLiveISOURL');
    assert.match(
      told(rowIn('Machine/w-0', worker({ config }))),
      /waiting for its bootstrap data: waits for the address of the ISO/,
    );
    assert.equal(
      told(rowIn('Machine/w-0', worker({ agent: 'none' }))),
      'working provisioning: waiting for its Agent',
    );
    assert.equal(told(rowIn('Machine/w-0', worker({}))), 'working provisioning: waiting for its Node');
  });

  it('says what a health check says', () => {
    const status = {
      conditions: [condition('HealthCheckSucceeded', 'False', 1, { message: 'no kubelet for 5 m' })],
    };
    assert.match(
      told(rowIn('Machine/w-0', worker({ status }))),
      /a health check found it ill: no kubelet for 5 m/,
    );
  });

  it('is in need of its Node where the cluster has lost it', () => {
    const objects = [...base(), deployment(1, 1), ...machineObjects('w-0')];
    assert.equal(told(rowIn('Node/w-0', objects, [])).slice(0, 14), 'failed missing');
    assert.match(
      told(rowIn('Node/w-0', objects, [node('w-0', 'False')])),
      /^attention not ready: the network is not ready/,
    );
  });

  it('waits for the cloud where its Node is tainted', () => {
    const taints = [{ key: 'node.cloudprovider.kubernetes.io/uninitialized', effect: 'NoSchedule' }];
    const objects = [...base(), deployment(1, 1), ...machineObjects('w-0')];
    const row = rowIn('Node/w-0', objects, [node('w-0', 'True', { spec: { taints } })]);
    assert.match(told(row), /^waiting uninitialized: it waits for a cloud controller manager/);
  });

  it('misses the bootstrap Secret that it names', () => {
    const row = rowIn('Secret/w-0', worker({ secret: 'none' }));
    assert.match(told(row), /^failed missing: the bootstrap data that the Machine names is not there/);
  });
});

describe('the next action', () => {
  it('is to end a pause before anything else', () => {
    const objects = [cluster({ spec: { paused: true } }), ...brokenReferences().objects.slice(1)];
    assert.match(
      nextAction(clusterTree(factsOf({ objects }))) ?? '',
      /patch cluster.cluster.x-k8s.io acme-lab .*"paused":false/,
    );
  });

  it('is to take an annotation away where one object is paused', () => {
    const metadata = { annotations: { 'cluster.x-k8s.io/paused': '' } };
    const row = rowIn('Machine/w-0', worker({ metadata }));
    assert.equal(row.next, 'kubectl -n acme annotate machine.cluster.x-k8s.io w-0 cluster.x-k8s.io/paused-');
  });

  it('is about what failed before what needs attention', () => {
    const objects = [
      ...worker({ agent: { debugInfo: { state: 'disconnected', stateInfo: 'x' } } }),
      ...machineObjects('w-1', { infrastructure: 'missing' }),
    ];
    assert.match(nextAction(clusterTree(factsOf({ objects }))) ?? '', /^create Metal3Machine w-1/);
  });

  it('is nothing where everything is there', () => {
    const report = clusterReport(factsOf(healthy()));
    assert.deepEqual([report.next, report.problems], [undefined, 0]);
  });

  it('names who has to take a finalizer away when a deletion lasts too long', () => {
    const metadata = { deletionTimestamp: ago(40), finalizers: ['metal3machine.infrastructure.cluster.x-k8s.io'] };
    const objects = [
      cluster(),
      object('infrastructure.cluster.x-k8s.io/v1beta2', 'Metal3Cluster', 'acme-lab', { metadata, status: {} }),
      controlPlane(),
      install('adding-hosts'),
    ];
    const root = clusterTree(factsOf({ objects }));
    assert.deepEqual(causesIn(root).map(labelOf), ['Metal3Cluster/acme-lab']);
    assert.match(nextAction(root) ?? '', /^see whether the Metal3 provider runs/);
  });

  it('asks whether a provider runs when nobody has looked at an object', () => {
    const objects = base().map((one) =>
      one.kind === 'Metal3Cluster' ? object(one.apiVersion, one.kind, one.metadata.name) : one,
    );
    assert.match(
      nextAction(clusterTree(factsOf({ objects }))) ?? '',
      /see whether the provider of Metal3Cluster runs/,
    );
  });
});

describe('Machines that are behind what is wanted', () => {
  const workers = (upToDateReplicas: number | undefined) => {
    const found = deployment(2, 2) as KubeObject & { readonly status: object };
    return { ...found, status: { ...found.status, ...(upToDateReplicas !== undefined && { upToDateReplicas }) } };
  };

  for (const { name, upToDate, want } of [
    { name: 'are counted', upToDate: 1, want: 'done 2/2 available: 1/2 up to date' },
    { name: 'are none when all are as wanted', upToDate: 2, want: 'done 2/2 available' },
    { name: 'are not known where nobody counts them', upToDate: undefined, want: 'done 2/2 available' },
  ])
    it(`experience/X43: ${name}`, () =>
      assert.equal(told(rowIn('MachineDeployment/workers', [...base(), workers(upToDate)])), want));

  it('experience/X43: are counted for a control plane, too', () => {
    const objects = [cluster(), metal3Cluster(), controlPlane({ upToDateReplicas: 0 }), install('adding-hosts')];
    assert.equal(
      told(rowIn(labelOf({ kind: 'OpenshiftAssistedControlPlane', name: NAME }), objects)),
      'done 3/3 ready: 0/3 up to date',
    );
  });
});
