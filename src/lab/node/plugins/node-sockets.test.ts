import assert from 'node:assert/strict';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { shortDirectory } from '../../../../test/support/short-directory.ts';
import { locatePath, nodeSocketProblem } from './node-sockets.ts';

describe('nodeSocketProblem', () => {
  const fits = `/${'r'.repeat(40)}`;
  for (const { name, root, longestName, want } of [
    { name: 'takes a root that leaves room to the last byte', root: fits, want: undefined },
    {
      name: 'refuses one byte more, and says how much is too much',
      root: `${fits}r`,
      want:
        `the node root ${fits}r is 42 bytes long, and /var/lib/kubelet/plugins_registry/ with a socket name of 32 bytes ` +
        'adds 66, but the path of a Unix socket has at most 107: choose a data directory that is at least 1 bytes shorter',
    },
    { name: 'counts bytes, not letters', root: `/${'é'.repeat(21)}`, want: /is 43 bytes long/ },
    { name: 'takes the longest name that plugins will use', root: '/tmp/n/1', longestName: 65, want: undefined },
    {
      name: 'refuses when that does not fit',
      root: '/tmp/n/1',
      longestName: 66,
      want: /a socket name of 66 bytes/,
    },
  ]) {
    it(`lab/N34: ${name}`, () => {
      const problem = nodeSocketProblem(root, longestName);
      if (want instanceof RegExp) assert.match(problem ?? '', want);
      else assert.equal(problem, want);
    });
  }
});

describe('locatePath', () => {
  it('finds paths of the node, and leaves those of this machine where they are', async () => {
    await using directory = await shortDirectory();
    const root = directory.path;
    await mkdir(join(root, 'var/lib/kubelet/plugins'), { recursive: true });
    await symlink('/var/lib/kubelet/plugins', join(root, 'short'));
    for (const [path, want] of [
      ['/var/lib/kubelet/plugins/d/csi.sock', '/var/lib/kubelet/plugins/d/csi.sock'],
      [join(root, 'var/lib/kubelet/plugins/d/csi.sock'), '/var/lib/kubelet/plugins/d/csi.sock'],
      ['/short/d/csi.sock', '/var/lib/kubelet/plugins/d/csi.sock'],
      [join(root, 'short/d/csi.sock'), '/var/lib/kubelet/plugins/d/csi.sock'],
      ['/../../../etc/passwd', '/etc/passwd'],
    ] as const) {
      assert.equal(await locatePath(root, path), join(root, want));
    }
  });
});
