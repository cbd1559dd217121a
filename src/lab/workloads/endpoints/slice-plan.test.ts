import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeAt, serviceLike, servicePod } from '../../../../test/support/service-world.ts';
import type { Pod, Service } from '../../../api/generated/core-v1-types.ts';
import type { EndpointSlice } from '../../../api/generated/discovery-v1-types.ts';
import { changedSlice, newSlice, type SliceFacts, slicePlan } from './slice-plan.ts';

const NODES = [nodeAt('n1', 'a'), nodeAt('n2', 'b')];
const plan = (facts: Partial<SliceFacts>) =>
  slicePlan({ service: serviceLike(), pods: [], nodes: NODES, slices: [], ...facts });

const pods = (count: number): readonly Pod[] =>
  Array.from({ length: count }, (_, at) =>
    servicePod(`p${at}`, { ip: `10.16.${32 + Math.floor(at / 200)}.${at % 200}` }),
  );

/** The slices once the plan is carried out. */
function after(
  service: Service,
  given: readonly Pod[],
  slices: readonly EndpointSlice[],
): readonly EndpointSlice[] {
  const { create, update, remove } = plan({ service, pods: given, slices });
  const changed = new Map(update.map(({ slice, content }) => [slice, changedSlice(slice, content)]));
  const made = create.map((content, at): EndpointSlice => {
    const { metadata, ...rest } = newSlice(service, content);
    const name = `${metadata.generateName}${slices.length + at}`;
    return { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata: { ...metadata, name }, ...rest };
  });
  return [
    ...slices.filter((slice) => !remove.includes(slice)).map((slice) => changed.get(slice) ?? slice),
    ...made,
  ];
}

const isNothing = ({ create, update, remove }: ReturnType<typeof slicePlan>): boolean =>
  create.length + update.length + remove.length === 0;

describe('slicePlan', () => {
  it('lab/W31: makes a slice with its owner, its labels and a name that begins like the service', () => {
    const service = serviceLike({}, { team: 'x', 'endpointslice.kubernetes.io/managed-by': 'me' });
    const { create } = plan({ service, pods: [servicePod('p')] });
    assert.equal(create.length, 1);
    const [content] = create;
    assert.ok(content !== undefined);
    const { metadata, addressType, ports, endpoints } = newSlice(service, content);
    assert.equal(metadata.generateName, 'web-');
    assert.deepEqual(metadata.labels, {
      team: 'x',
      'kubernetes.io/service-name': 'web',
      'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
    });
    assert.deepEqual(metadata.ownerReferences, [
      {
        apiVersion: 'v1',
        kind: 'Service',
        name: 'web',
        uid: 'uid-web',
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
    assert.deepEqual([addressType, ports], ['IPv4', [{ name: 'http', port: 8080, protocol: 'TCP' }]]);
    assert.deepEqual(
      endpoints.map(({ addresses, zone }) => [addresses, zone]),
      [[['10.16.32.1'], 'a']],
    );
  });

  it('lab/W31: has nothing to do the second time', () => {
    const service = serviceLike();
    for (const count of [0, 1, 250]) {
      const slices = after(service, pods(count), []);
      assert.ok(isNothing(plan({ service, pods: pods(count), slices })), `${count} pods`);
    }
  });

  it('lab/W31: says by an empty slice that a service has no endpoints, and fills it later', () => {
    const service = serviceLike();
    const empty = after(service, [], []);
    assert.deepEqual(
      empty.map(({ endpoints, ports }) => [endpoints, ports]),
      [[[], []]],
    );
    const { create, update, remove } = plan({ service, pods: pods(1), slices: empty });
    assert.deepEqual([create.length, update.length, remove.length], [0, 1, 0]);
    const filled = after(service, pods(1), empty);
    assert.deepEqual(
      filled.map(({ metadata, endpoints }) => [metadata.name, endpoints?.length]),
      [['web-0', 1]],
    );
    const emptied = after(service, [], filled);
    assert.deepEqual(
      emptied.map(({ metadata, endpoints }) => [metadata.name, endpoints]),
      [['web-0', []]],
    );
  });

  it('lab/W31: empties one slice and deletes the others when all pods are gone', () => {
    const service = serviceLike();
    const slices = after(service, pods(250), []);
    const { create, update, remove } = plan({ service, slices });
    assert.deepEqual([create.length, update.length, remove.length], [0, 1, 2]);
  });

  it('lab/W31: keeps pods with other numbers for a named port in slices of their own', () => {
    const service = serviceLike({ ports: [{ name: 'http', port: 80, targetPort: 'http' }] });
    const at = (name: string, containerPort: number) =>
      servicePod(name, { spec: { containers: [{ name: 'c', ports: [{ name: 'http', containerPort }] }] } });
    const slices = after(service, [at('a', 8080), at('b', 9090), at('c', 8080)], []);
    const sizes = new Map(slices.map(({ ports, endpoints }) => [ports?.[0]?.port, endpoints?.length]));
    assert.deepEqual(
      sizes,
      new Map([
        [8080, 2],
        [9090, 1],
      ]),
    );
  });

  it('lab/W31: leaves out pods whose node is not there, unless all are to be published', () => {
    const lost = [servicePod('p', { node: 'gone' })];
    const [kept] = plan({ pods: lost }).create;
    assert.deepEqual(kept?.endpoints, []);
    const [all] = plan({ service: serviceLike({ publishNotReadyAddresses: true }), pods: lost }).create;
    assert.equal(all?.endpoints.length, 1);
  });

  it('lab/W31: takes up changed labels of the service', () => {
    const slices = after(serviceLike(), pods(1), []);
    const { update } = plan({ service: serviceLike({}, { team: 'x' }), pods: pods(1), slices });
    assert.equal(update[0]?.content.labels['team'], 'x');
  });

  it('lab/W31: marks the slices of a headless service, which need not have ports', () => {
    const service = serviceLike({ clusterIP: 'None', ports: [] });
    const slices = after(service, pods(2), []);
    assert.deepEqual(
      slices.map(({ ports, endpoints }) => [ports, endpoints?.length]),
      [[[], 2]],
    );
    assert.equal(slices[0]?.metadata.labels?.['service.kubernetes.io/headless'], '');
    assert.ok(isNothing(plan({ service, pods: pods(2), slices })));
  });

  it('lab/W31: has slices for each kind of address, and deletes those that are not wanted', () => {
    const service = serviceLike({ ipFamilies: ['IPv4', 'IPv6'] });
    const both = [servicePod('p', { ips: ['10.16.32.1', 'fd00::1'] })];
    const slices = after(service, both, []);
    assert.deepEqual(
      slices.map(({ addressType, endpoints }) => [addressType, endpoints?.[0]?.addresses]),
      [
        ['IPv4', ['10.16.32.1']],
        ['IPv6', ['fd00::1']],
      ],
    );
    const { remove, update, create } = plan({ pods: both, slices });
    assert.deepEqual([remove.map(({ addressType }) => addressType), update, create], [['IPv6'], [], []]);
  });

  it('lab/W31: deletes slices of a service of the same name that is gone', () => {
    const slices = after(serviceLike(), pods(1), []);
    const again = { ...serviceLike(), metadata: { ...serviceLike().metadata, uid: 'uid-other' } };
    const { create, update, remove } = plan({ service: again, pods: pods(1), slices });
    assert.deepEqual([create.length, update.length, remove], [1, 0, slices]);
  });
});
