import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, it } from 'node:test';
import { INSTANCES } from '../cloud/instances/instance-fields.ts';
import { startLab } from '../index.ts';

describe('nodes of instances', () => {
  it('lab/P16: end with the lab, also those that are just being started', async () => {
    const lab = await startLab({ clusters: [{ name: 'c1' }], cloud: true, clock: 'auto' });
    const { cloud } = lab;
    const userData = Buffer.from(await lab.cluster('c1').userData({ name: 'w-1' })).toString('base64');
    const { token } = cloud.issueToken('lab-provider');
    await fetch(`${cloud.url}/v1/instances`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ name: 'w-1', type: 'lab.small', zone: 'a', userData }),
    });
    const isRunning = async () => cloud.state.list(INSTANCES)[0]?.state === 'running';
    await lab.until(isRunning, { within: '1m' });
    // Its node takes longer.
    await lab[Symbol.asyncDispose]();
    assert.ok(!existsSync(lab.directory));
  });
});
