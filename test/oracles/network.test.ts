import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';
import { outcomeOf, scratchDirectory, writeScript } from '../support/scratch.ts';

const KUBERNETES = new URL('../support/kubernetes.ts', import.meta.url).href;
const UNSHARE = 'unshare';
/** A network of its own: a loopback device that is down, no route, no other device. */
const ISOLATED = ['--map-root-user', '--net', '--'];

/** Unprivileged namespaces are switched off on some hosts and in most containers. */
function canIsolate(): { skip: false | string } {
  try {
    execFileSync(UNSHARE, [...ISOLATED, 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' });
    return { skip: false };
  } catch {
    return { skip: 'this machine does not allow network namespaces (unshare --map-root-user --net)' };
  }
}

describe(
  'a machine without a default route',
  needsAll(needsOracle('etcd'), needsOracle('kube-apiserver'), canIsolate()),
  () => {
    it('starts a control plane, because the server is told its address', async () => {
      await using directory = await scratchDirectory();
      const script = await writeScript(
        directory.path,
        'isolated.mts',
        `import { execFileSync } from 'node:child_process';
       import { startKubernetes } from ${JSON.stringify(KUBERNETES)};
       execFileSync('ip', ['link', 'set', 'lo', 'up']);
       console.log('routes: [' + execFileSync('ip', ['route'], { encoding: 'utf8' }).trim() + ']');
       await using cluster = await startKubernetes({ baseDirectory: ${JSON.stringify(directory.path)} });
       console.log('ready at ' + cluster.url);`,
      );
      const variables = Object.entries(process.env).filter(([name]) => name !== 'NODE_TEST_CONTEXT');
      const command = [...ISOLATED, process.execPath, script];
      const { code, stdout, stderr } = await outcomeOf(UNSHARE, command, Object.fromEntries(variables));
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^routes: \[\]\nready at https:\/\/127\.0\.0\.1:\d+\n$/);
    });
  },
);
