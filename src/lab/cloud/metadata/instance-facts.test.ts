import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cloudWorld } from '../../../../test/support/cloud-world.ts';
import { INSTANCES } from '../instances/instance-fields.ts';
import { instanceFacts } from './instance-facts.ts';

describe('facts of an instance', () => {
  it('lab/C28: are those of the cloud, with the user data as it was meant', async () => {
    await using world = await cloudWorld();
    const userData = Buffer.from('#!/bin/sh\necho ü\n').toString('base64');
    const body = { name: 'w-1', type: 'lab.small', zone: 'b', tags: { role: 'worker' } };
    const [id, bare] = [await world.make('instances', { ...body, userData }), await world.make('instances', body)];
    const factsOf = (wanted: string) => {
      const record = world.cloud.state.get(INSTANCES, wanted);
      return record && instanceFacts(record);
    };
    const { publicAddress, privateAddress } = await world.look('instances', id);
    assert.deepEqual(factsOf(id), {
      id,
      hostname: 'w-1.b.lab.internal',
      zone: 'b',
      type: 'lab.small',
      addresses: [
        { type: 'internal', address: privateAddress },
        { type: 'external', address: publicAddress },
      ],
      tags: { role: 'worker' },
      userData: Buffer.from('#!/bin/sh\necho ü\n'),
    });
    assert.equal(factsOf(bare)?.userData, undefined);
    await world.ask('DELETE', `/v1/instances/${id}`);
    await world.pass(5000);
    assert.equal((await world.look('instances', id))['state'], 'terminated');
    assert.equal(factsOf(id), undefined);
  });
});
