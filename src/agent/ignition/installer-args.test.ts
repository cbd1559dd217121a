import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { installerArgs } from './installer-args.ts';

describe('arguments of the installer', () => {
  it('agent/G7: are an empty list without kernel arguments', () => {
    assert.equal(installerArgs({}), '[]');
    assert.equal(installerArgs({ kernelArguments: [] }), '[]');
  });

  it('agent/G7: are one flag and one value for each kernel argument, in order', () => {
    const args = installerArgs({
      kernelArguments: [
        { operation: 'append', value: 'p1="a b"' },
        { operation: 'replace', value: 'p2=x' },
        { operation: 'delete', value: 'p3' },
      ],
    });
    assert.equal(args, '["--append-karg","p1=\\"a b\\"","--replace-karg","p2=x","--delete-karg","p3"]');
  });
});
