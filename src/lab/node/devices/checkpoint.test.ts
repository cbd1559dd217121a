import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { shortDirectory } from '../../../../test/support/short-directory.ts';
import { codecOf } from '../../../rpc/codec.ts';
import { ContainerAllocateResponse } from '../../../rpc/kubelet/device-plugin.ts';
import type { Allocation } from './allocations.ts';
import { checkpointText, parseCheckpoint, readCheckpoint, writeCheckpoint } from './checkpoint.ts';

const nothing = codecOf(ContainerAllocateResponse).decode(new Uint8Array());
const allocation: Allocation = {
  uid: 'u-1',
  container: 'c',
  resource: 'acme.example/npu',
  devices: ['a', 'b', 'c'],
  numaNodes: new Map([
    ['a', [0n, 1n]],
    ['b', [1n]],
    ['c', []],
  ]),
  response: { ...nothing, envs: { NPUS: 'a,b,c' } },
};
const checkpoint = { allocations: [allocation], registered: { 'acme.example/npu': ['a', 'b', 'c', 'd'] } };

describe('the checkpoint of devices', () => {
  it('hardware/D11: has the names and places of the kubelet', () => {
    const { Data } = JSON.parse(checkpointText(checkpoint));
    assert.deepEqual(Data, {
      PodDeviceEntries: [
        {
          PodUID: 'u-1',
          ContainerName: 'c',
          ResourceName: 'acme.example/npu',
          DeviceIDs: { '-1': ['c'], '0': ['a'], '1': ['a', 'b'] },
          // envs: field 1, a map entry with key NPUS and value a,b,c.
          AllocResp: Buffer.from('0a0d0a044e5055531205612c622c63', 'hex').toString('base64'),
        },
      ],
      RegisteredDevices: { 'acme.example/npu': ['a', 'b', 'c', 'd'] },
    });
  });

  it('hardware/D11: says after a restart what it said before', () => {
    const { allocations, registered } = parseCheckpoint(checkpointText(checkpoint));
    assert.deepEqual(registered, checkpoint.registered);
    const [again] = allocations;
    assert.deepEqual(new Set(again?.devices), new Set(allocation.devices));
    assert.deepEqual(again?.numaNodes, allocation.numaNodes);
    assert.deepEqual({ ...again, devices: [], numaNodes: [] }, { ...allocation, devices: [], numaNodes: [] });
  });

  const text = checkpointText(checkpoint);
  for (const { name, given, want } of [
    { name: 'no JSON', given: text.slice(0, -5), want: /damaged: it is no JSON/ },
    {
      name: 'something else',
      given: '{"Data":{"RegisteredDevices":{}},"Checksum":1}',
      want: /damaged: .*PodDeviceEntries/s,
    },
    {
      name: 'not what was written',
      given: text.replace('u-1', 'u-2'),
      want: /damaged: its checksum is another one/,
    },
    { name: 'a number that is none', given: text.replace('"-1"', '"one"'), want: /damaged/ },
  ]) {
    it(`is refused when it is ${name}`, () =>
      assert.throws(() => parseCheckpoint(given), { reason: 'DamagedCheckpoint', message: want }));
  }

  it('is replaced as a whole, and nothing is left beside it', async () => {
    await using directory = await shortDirectory();
    const path = join(directory.path, 'kubelet_internal_checkpoint');
    assert.equal(await readCheckpoint(path), undefined);
    await writeFile(path, 'old');
    await writeCheckpoint(path, checkpoint);
    assert.deepEqual((await readCheckpoint(path))?.registered, checkpoint.registered);
    assert.deepEqual(await readdir(directory.path), ['kubelet_internal_checkpoint']);
  });
});
