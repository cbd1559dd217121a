import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { Lease } from '../../../src/api/generated/coordination-v1.ts';
import { messageOf } from '../../../src/base/errors.ts';
import { exitCodeOf } from '../../../src/kube/manager/exit-code.ts';
import { CertificateAuthority } from '../../../src/pki/certificate-authority.ts';
import type { RuntimeSuite } from '../../support/runtime-servers.ts';
import type { RuntimeWorld } from '../../support/runtime-world.ts';
import { testAuthority } from '../../support/transport-world.ts';
import { ChildProgram, type Ended } from './child-program.ts';
import { Hello, helloController } from './hello-program.ts';
import { startRelay } from './relay.ts';

interface BadInput {
  readonly what: string;
  readonly flags: (world: RuntimeWorld) => Promise<readonly string[]>;
  readonly code: number;
  readonly message: RegExp;
}

const withFile = async (world: RuntimeWorld, text: string): Promise<readonly string[]> => {
  const file = world.file('broken');
  await writeFile(file, text);
  return [`--kubeconfig=${file}`];
};

const BAD_INPUTS: readonly BadInput[] = [
  {
    what: 'a kubeconfig that does not exist',
    flags: async () => ['--kubeconfig=/nonexistent/config'],
    code: 2,
    message: /--kubeconfig names \/nonexistent\/config, but there is no such file/,
  },
  {
    what: 'a kubeconfig that is no YAML',
    flags: (world) => withFile(world, 'apiVersion: v1\nclusters: [\n'),
    code: 2,
    message: /broken-[^ ]*:[23].*/,
  },
  {
    what: 'an unknown context',
    flags: async (world) => [`--kubeconfig=${await world.kubeconfig()}`, '--context=production'],
    code: 2,
    message: /--context: there is no context \\"production\\"\. There is: test/,
  },
  {
    what: 'a wrong authority',
    flags: async (world) => {
      const authorityPem = (await testAuthority()).certificatePem;
      return [`--kubeconfig=${await world.kubeconfig({ authorityPem })}`];
    },
    code: 2,
    message: /the certificate of 127\.0\.0\.1:\d+ .*is signed by an authority that is not trusted/,
  },
  {
    what: 'an expired client certificate',
    flags: async (world) => {
      const now = new Date(Date.now() - 7 * 86_400_000);
      const validity = { now, validityMs: 3_600_000 };
      const authority = await CertificateAuthority.create({ commonName: 'old', ...validity });
      const { certificatePem, keys } = await authority.issue({
        kind: 'client',
        commonName: 'me',
        organizations: [],
        ...validity,
      });
      const clientCertificate = { certificatePem, keyPem: keys.privateKeyPem };
      return [`--kubeconfig=${await world.kubeconfig({ clientCertificate })}`];
    },
    code: 2,
    message: /the client certificate \(.*me.*\) expired on /,
  },
  {
    what: 'credentials that the server does not know',
    flags: async (world) => [`--kubeconfig=${await world.kubeconfig({ token: 'made-up' })}`],
    code: 1,
    message: /the API server does not accept the credentials of this program \(401 Unauthorized\)/,
  },
  {
    what: 'a user without rights',
    flags: async (world) => [`--kubeconfig=${await world.kubeconfig({ user: { name: 'nobody' } })}`],
    code: 1,
    message:
      /this program may not: get, list, watch, patch hellos\.hello\.runtime\.slipway\.test in the whole cluster/,
  },
  {
    what: 'a flag that does not exist',
    flags: async () => ['--lease-duratoin=3s'],
    code: 2,
    message: /--lease-duratoin/,
  },
];

/** Programs as people and clusters run them (8.2, samples 8 and 9). */
export const programSuite: RuntimeSuite = (world) => {
  before(() => world().define(Hello));

  const hasNoStack = ({ errors }: Ended) => {
    const text = errors.join('\n');
    assert.doesNotMatch(text, /^\s+at |\\n\s+at |"stack"|node:internal/m, text);
  };
  const electing = (namespace: string) => [
    `--namespaces=${namespace}`,
    '--leader-elect',
    `--leader-election-namespace=${namespace}`,
    '--lease-duration=3s',
    '--renew-deadline=2s',
    '--retry-period=300ms',
  ];

  describe('all at once', { concurrency: 3 }, () => {
    it('runtime/M2: sample 8: SIGTERM lets the reconcile finish, gives the lease back and exits with 0', async () => {
      const namespace = await world().namespace('term');
      const { client } = world();
      await using child = new ChildProgram([`--kubeconfig=${await world().kubeconfig()}`, ...electing(namespace)]);
      await child.says(/^leading$/);
      const key = { namespace, name: 'slow' };
      await client.create(Hello, { metadata: key, spec: { text: 'hi', seconds: 5 } });
      await child.says(/^started slow$/);
      const signalledMs = performance.now();
      child.signal('SIGTERM');
      const ended = await child.ended();
      const tookMs = performance.now() - signalledMs;
      assert.equal(ended.code, 0, ended.errors.join('\n'));
      assert.ok(tookMs < 20_000, `${tookMs} ms`);
      hasNoStack(ended);
      assert.equal((await client.get(Hello, key)).status?.said, 'hi');
      const lease = await client.get(Lease, { namespace, name: 'hello' });
      assert.equal(lease.spec?.holderIdentity ?? '', '');
      assert.equal(lease.spec?.leaseDurationSeconds, 1);
    });

    it('runtime/M2: a second signal ends the process at once with 1', async () => {
      const namespace = await world().namespace('term');
      await using child = new ChildProgram([
        `--kubeconfig=${await world().kubeconfig()}`,
        `--namespaces=${namespace}`,
      ]);
      await child.says(/^leading$/);
      await world().client.create(Hello, {
        metadata: { namespace, name: 'slow' },
        spec: { text: 'hi', seconds: 20 },
      });
      await child.says(/^started slow$/);
      child.signal('SIGTERM');
      await child.says(/Stopping/);
      // Sooner it would pass for the first signal, passed on by a parent.
      await setTimeout(1000);
      child.signal('SIGTERM');
      const ended = await child.ended();
      assert.equal(ended.code, 1);
      assert.match(ended.errors.at(-1) ?? '', /Received a second signal, exiting at once/);
      hasNoStack(ended);
    });

    it('runtime/M5: sample 9: a program that cannot renew its lease exits with 1 and says why', async () => {
      const namespace = await world().namespace('lost');
      await using relay = await startRelay(world().server.url);
      const kubeconfig = await world().kubeconfig({ url: relay.url });
      await using child = new ChildProgram([`--kubeconfig=${kubeconfig}`, ...electing(namespace)]);
      await child.says(/^leading$/);
      relay.cut();
      const ended = await child.ended();
      assert.equal(ended.code, 1);
      assert.match(ended.errors.at(-1) ?? '', /leader election lost/);
      hasNoStack(ended);
    });

    it('runtime/M8: a server that cannot be reached is waited for and named; a signal ends the wait', async () => {
      await using relay = await startRelay(world().server.url);
      relay.cut();
      await using child = new ChildProgram([`--kubeconfig=${await world().kubeconfig({ url: relay.url })}`]);
      await child.says(new RegExp(`connection to ${new URL(relay.url).host} was `));
      child.signal('SIGTERM');
      const ended = await child.ended();
      assert.equal(ended.code, 0, ended.errors.join('\n'));
      hasNoStack(ended);
    });

    it('runtime/8.2: a server that stays away longer than caches may take is exit code 3', async () => {
      await using relay = await startRelay(world().server.url);
      relay.cut();
      await using run = await world().manager({
        way: { url: relay.url },
        controllers: { cacheSyncTimeoutMs: 500 },
        setup: (manager) => manager.add(helloController()),
      });
      const error = await run.ended;
      assert.equal(exitCodeOf(error), 3, messageOf(error));
      assert.match(messageOf(error), /the API server did not answer in time: connection to 127\.0\.0\.1:\d+ was /);
    });

    it('runtime/M1: a server that is there late is used as soon as it is', async () => {
      const namespace = await world().namespace('late');
      await using relay = await startRelay(world().server.url);
      relay.cut();
      const flags = [`--kubeconfig=${await world().kubeconfig({ url: relay.url })}`, `--namespaces=${namespace}`];
      await using child = new ChildProgram(flags);
      await child.says(/Waiting for the API server/);
      relay.heal();
      await child.says(/^leading$/);
    });

    for (const { what, flags, code, message } of BAD_INPUTS) {
      it(`runtime/C8: ${what}: one message, exit code ${code}, no stack trace`, async () => {
        await using child = new ChildProgram(await flags(world()));
        const ended = await child.ended();
        const text = ended.errors.join('\n');
        assert.match(text, message);
        assert.equal(ended.code, code, text);
        hasNoStack(ended);
        assert.equal(ended.errors.filter((line) => message.test(line)).length, 1, text);
      });
    }
  });
};
