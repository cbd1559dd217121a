import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { cloudWorld, pretendAddresses } from '../../../../test/support/cloud-world.ts';
import { scratchDirectory } from '../../../../test/support/scratch.ts';
import { isInside, overlap, parseCidr } from './cidr.ts';

const instance = { name: 'w', type: 'lab.small', zone: 'a' };

describe('ranges of addresses', () => {
  const cases = [
    { text: '10.0.0.0/8', want: { first: 0x0a000000, bits: 8 } },
    { text: '0.0.0.0/0', want: { first: 0, bits: 0 } },
    { text: '255.255.255.255/32', want: { first: 0xffffffff, bits: 32 } },
    { text: '10.0.0.1/8', want: undefined },
    { text: '10.0.0.0', want: undefined },
    { text: '10.0.0.0/33', want: undefined },
    { text: '10.0.0/8', want: undefined },
    { text: '256.0.0.0/8', want: undefined },
    { text: '010.0.0.0/8', want: undefined },
    { text: 'fd00::/8', want: undefined },
    { text: '', want: undefined },
  ];
  for (const { text, want } of cases) {
    it(`"${text}" is ${want === undefined ? 'none' : JSON.stringify(want)}`, () =>
      assert.deepEqual(parseCidr(text), want));
  }

  it('overlap exactly when they have an address in common', () => {
    const cidr = fc.record({ bits: fc.integer({ min: 24, max: 32 }), host: fc.nat(255) }).map(({ bits, host }) => {
      const size = 2 ** (32 - bits);
      return { first: 0x0a000000 + Math.floor(host / size) * size, bits };
    });
    const addresses = ({ first, bits }: { first: number; bits: number }) =>
      new Set(Array.from({ length: 2 ** (32 - bits) }, (_, n) => first + n));
    fc.assert(
      fc.property(cidr, cidr, (a, b) => {
        const [left, right] = [addresses(a), addresses(b)];
        assert.equal(
          overlap(a, b),
          [...left].some((address) => right.has(address)),
        );
        assert.equal(
          isInside(a, b),
          [...left].every((address) => right.has(address)),
        );
      }),
    );
  });
});

describe('networks, subnets and routes', () => {
  it('have a network from the start, which is meant when none is named', async () => {
    await using world = await cloudWorld();
    const { items } = await world.ask('GET', '/v1/networks');
    assert.deepEqual(
      items.map(({ name, cidr, state }) => [name, cidr, state]),
      [['default', '10.77.0.0/16', 'active']],
    );
    const subnet = await world.look('subnets', await world.make('subnets', { name: 's', cidr: '10.77.4.0/24' }));
    assert.deepEqual([subnet['networkId'], subnet['state']], [items[0]?.['id'], 'active']);
    const made = await world.look('instances', await world.make('instances', instance));
    assert.equal(made['networkId'], items[0]?.['id']);
  });

  it('lab/C3: keep subnets inside their network and apart from each other', async () => {
    await using world = await cloudWorld();
    await world.make('subnets', { name: 's', cidr: '10.77.4.0/24' });
    const outside = await world.ask('POST', '/v1/subnets', { body: { name: 's', cidr: '10.78.0.0/24' } });
    assert.deepEqual([outside.status, outside.error['target']], [400, 'cidr']);
    const rival = await world.ask('POST', '/v1/subnets', { body: { name: 's', cidr: '10.77.0.0/20' } });
    assert.deepEqual([rival.status, rival.error['code']], [409, 'InUse']);
    assert.equal(
      (await world.ask('POST', '/v1/subnets', { body: { name: 's', cidr: '10.77.5.1/24' } })).status,
      400,
    );
    await world.make('subnets', { name: 's', cidr: '10.77.5.0/24' });
  });

  it('lab/C3: let a network go only when nothing is in it', async () => {
    await using world = await cloudWorld();
    const network = await world.make('networks', { name: 'n', cidr: '10.5.0.0/16' });
    const subnet = await world.make('subnets', { name: 's', cidr: '10.5.0.0/24', networkId: network });
    const { status, error } = await world.ask('DELETE', `/v1/networks/${network}`);
    assert.deepEqual([status, error['code'], error['details']], [409, 'InUse', { id: subnet }]);
    await world.ask('DELETE', `/v1/subnets/${subnet}`);
    const machine = await world.make('instances', { ...instance, networkId: network });
    assert.equal((await world.ask('DELETE', `/v1/networks/${network}`)).error['code'], 'InUse');
    await world.ask('DELETE', `/v1/instances/${machine}`);
    await world.pass(2000);
    assert.equal((await world.ask('DELETE', `/v1/networks/${network}`)).status, 202);
  });

  it('lab/C3: have one route to a range, to an instance that lives', async () => {
    await using world = await cloudWorld();
    const [first, second] = [await world.make('instances', instance), await world.make('instances', instance)];
    const route = { destinationCidr: '10.128.0.0/23', targetInstanceId: first };
    const id = await world.make('routes', { ...route, tags: { cluster: 'c1' } });
    const again = await world.ask('POST', '/v1/routes', { body: route });
    assert.deepEqual([again.status, again.error['code'], again.error['details']], [409, 'AlreadyExists', { id }]);
    const moved = await world.ask('PATCH', `/v1/routes/${id}`, { body: { targetInstanceId: second } });
    assert.deepEqual([moved.status, moved.body['targetInstanceId']], [200, second]);
    const nobody = await world.ask('PATCH', `/v1/routes/${id}`, { body: { targetInstanceId: 'i-000000000000' } });
    assert.deepEqual([nobody.status, nobody.error['target']], [404, 'targetInstanceId']);
    await world.ask('DELETE', `/v1/instances/${first}`);
    const gone = await world.ask('POST', '/v1/routes', { body: { ...route, destinationCidr: '10.130.0.0/23' } });
    assert.deepEqual([gone.status, gone.error['code']], [409, 'IncorrectState']);
    assert.equal((await world.ask('DELETE', `/v1/routes/${id}`)).status, 202);
  });
});

describe('floating addresses', () => {
  it('lab/C2: are free, attached, and free again when their instance goes', async () => {
    await using world = await cloudWorld();
    const machine = await world.make('instances', instance);
    const id = await world.make('addresses', {});
    const made = await world.look('addresses', id);
    assert.deepEqual(
      [made['state'], made['address'], made['apiAddress']],
      ['free', '127.77.128.1', '10.77.128.1'],
    );
    const act = (body: object) => world.ask('POST', `/v1/addresses/${id}/actions`, { body });
    const attached = await act({ action: 'attach', instanceId: machine });
    assert.deepEqual(
      [attached.status, attached.body['state'], attached.body['attachedTo']],
      [202, 'attached', machine],
    );
    assert.equal((await act({ action: 'attach', instanceId: machine })).status, 202);
    const other = await act({ action: 'attach', instanceId: await world.make('instances', instance) });
    assert.deepEqual(
      [other.status, other.error['code'], other.error['details']],
      [409, 'InUse', { instanceId: machine }],
    );
    assert.equal((await world.ask('DELETE', `/v1/addresses/${id}`)).error['code'], 'InUse');
    await world.ask('DELETE', `/v1/instances/${machine}`);
    await world.pass(2000);
    const free = await world.look('addresses', id);
    assert.deepEqual([free['state'], free['attachedTo'], free['address']], ['free', undefined, '127.77.128.1']);
    assert.equal((await act({ action: 'detach' })).status, 202);
    assert.equal((await act({ action: 'attach', instanceId: machine })).error['code'], 'IncorrectState');
    assert.equal((await world.ask('DELETE', `/v1/addresses/${id}`)).status, 202);
  });

  it('lab/C2: can be attached from the start', async () => {
    await using world = await cloudWorld();
    const machine = await world.make('instances', instance);
    const made = await world.look('addresses', await world.make('addresses', { attachedTo: machine }));
    assert.deepEqual([made['state'], made['attachedTo']], ['attached', machine]);
    assert.equal(
      (await world.ask('POST', '/v1/addresses', { body: { attachedTo: 'i-000000000000' } })).status,
      404,
    );
    assert.equal((await world.ask('POST', '/v1/addresses', { body: { family: 'ipv6' } })).status, 400);
  });

  it('lab/C2: are not given twice after a restart', async () => {
    await using directory = await scratchDirectory();
    const first = await cloudWorld({ directory: directory.path });
    const made = await first.look('addresses', await first.make('addresses', {}));
    await first[Symbol.asyncDispose]();
    const addresses = pretendAddresses();
    await using second = await cloudWorld({ directory: directory.path, clock: first.clock, addresses });
    assert.notEqual(addresses.balancers.take().api, made['apiAddress']);
    const next = await second.look('addresses', await second.make('addresses', {}));
    assert.notEqual(next['apiAddress'], made['apiAddress']);
  });
});
