import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspectMachine } from './machine-report.ts';

describe('inspectMachine', () => {
  it('lab/X10, P10: tells what a lab would find', async () => {
    const { network, isolation, lowPortOffset } = await inspectMachine();
    assert.equal(network.isUsable, true);
    assert.match(network.text, /^Network mode (loopback|ports), because /);
    assert.match(
      isolation.text,
      isolation.isExact ? /mount namespaces/ : /^Paths of volumes are rewritten .*: \S/,
    );
    assert.ok([0, 20_000].includes(lowPortOffset));
  });
});
