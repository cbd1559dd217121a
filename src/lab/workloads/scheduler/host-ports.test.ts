import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { podLike } from '../../../../test/support/pretend-cluster.ts';
import type { ContainerPort, PodSpec } from '../../../api/generated/core-v1-types.ts';
import { hostPortsOf, PortUse } from './host-ports.ts';

const withPorts = (...ports: readonly ContainerPort[]): Partial<PodSpec> => ({
  containers: [{ name: 'c', image: 'i', ports }],
});

const portsOf = (spec: Partial<PodSpec>) => hostPortsOf(podLike({ spec }));

describe('ports of the host', () => {
  it('are those that containers and sidecars name', () => {
    const spec = {
      ...withPorts(
        { containerPort: 80 },
        { containerPort: 81, hostPort: 8081, protocol: 'UDP', hostIP: '10.0.0.1' },
      ),
      initContainers: [
        { name: 's', restartPolicy: 'Always', ports: [{ containerPort: 1, hostPort: 9000 }] },
        { name: 'i', ports: [{ containerPort: 2, hostPort: 9001 }] },
      ],
    } as const;
    assert.deepEqual(portsOf(spec), [
      { ip: '0.0.0.0', port: 'TCP/9000' },
      { ip: '10.0.0.1', port: 'UDP/8081' },
    ]);
  });

  it('lab/K2: are all ports of a pod with the network of the host', () => {
    const spec = { ...withPorts({ containerPort: 80 }, { containerPort: 81, hostPort: 81 }), hostNetwork: true };
    assert.deepEqual(
      portsOf(spec).map(({ port }) => port),
      ['TCP/80', 'TCP/81'],
    );
  });

  const CLASHES: readonly (readonly [taken: ContainerPort, wanted: ContainerPort, isClash: boolean])[] = [
    [{ containerPort: 1, hostPort: 80 }, { containerPort: 1, hostPort: 80 }, true],
    [{ containerPort: 1, hostPort: 80 }, { containerPort: 1, hostPort: 81 }, false],
    [{ containerPort: 1, hostPort: 80 }, { containerPort: 1, hostPort: 80, protocol: 'UDP' }, false],
    [{ containerPort: 1, hostPort: 80, hostIP: '127.0.0.1' }, { containerPort: 1, hostPort: 80 }, true],
    [{ containerPort: 1, hostPort: 80 }, { containerPort: 1, hostPort: 80, hostIP: '127.0.0.1' }, true],
    [
      { containerPort: 1, hostPort: 80, hostIP: '127.0.0.1' },
      { containerPort: 1, hostPort: 80, hostIP: '127.0.0.2' },
      false,
    ],
    [
      { containerPort: 1, hostPort: 80, hostIP: '127.0.0.1' },
      { containerPort: 1, hostPort: 80, hostIP: '127.0.0.1' },
      true,
    ],
  ];
  for (const [taken, wanted, isClash] of CLASHES) {
    it(`${JSON.stringify(wanted)} ${isClash ? 'clashes' : 'goes'} with ${JSON.stringify(taken)}`, () => {
      const use = new PortUse();
      use.take(portsOf(withPorts(taken)));
      assert.equal(use.clashesWith(portsOf(withPorts(wanted))), isClash);
    });
  }

  it('are free again when the last of those has gone that had it', () => {
    const ports = portsOf(withPorts({ containerPort: 1, hostPort: 80 }));
    const use = new PortUse();
    use.take(ports);
    use.take(ports);
    use.giveBack(ports);
    assert.equal(use.clashesWith(ports), true);
    use.giveBack(ports);
    assert.equal(use.clashesWith(ports), false);
    assert.deepEqual(use.entries, []);
  });
});
