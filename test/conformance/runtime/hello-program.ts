import { homedir } from 'node:os';
import * as z from 'zod';
import { ConfigMap } from '../../../src/api/generated/core-v1.ts';
import { keyOf } from '../../../src/api/object.ts';
import { defineKind, type KindOf } from '../../../src/api/schema/define-kind.ts';
import { conditions } from '../../../src/api/schema/extensions.ts';
import { terminalError, userError } from '../../../src/base/errors.ts';
import { withFinalizer } from '../../../src/kube/apply/with-finalizer.ts';
import { type Controller, controllerFor } from '../../../src/kube/controller/controller.ts';
import { after, DONE, type ReconcileContext, type Result } from '../../../src/kube/controller/reconcile.ts';
import { runProgram } from '../../../src/kube/manager/run-program.ts';
import { needs } from '../../../src/kube/rbac/need.ts';
import { ownedBy } from '../../../src/object/owner-references.ts';

/** Says something by a ConfigMap of its name, and fails in the ways that its text asks for. */
export const Hello = defineKind({
  group: 'hello.runtime.slipway.test',
  version: 'v1',
  kind: 'Hello',
  plural: 'hellos',
  scope: 'Namespaced',
  spec: z.object({ text: z.string().max(100), seconds: z.int32().min(0).default(0) }),
  status: z.object({ said: z.string(), conditions: conditions() }).partial(),
});
export type Hello = KindOf<typeof Hello>;

export const FINALIZER = 'hello.runtime.slipway.test/goodbye';

/** Told of what the controller did. */
export interface HelloLog {
  readonly started?: (hello: Hello, context: ReconcileContext) => void;
  readonly said?: (hello: Hello, context: ReconcileContext) => void;
  readonly finalized?: (hello: Hello) => void;
}

export const helloController = (log: HelloLog = {}): Controller =>
  controllerFor(Hello)
    .owns(ConfigMap)
    .needs(
      needs(ConfigMap, ['create', 'patch']),
      needs(Hello, ['patch']),
      needs(Hello, ['patch'], { subresource: 'status' }),
    )
    .reconcile(
      withFinalizer(Hello, FINALIZER, {
        reconcile: (hello, context) => say(hello, context, log),
        finalize: async (hello) => {
          log.finalized?.(hello);
          return 'done';
        },
      }),
    );

const FAILURES: ReadonlyMap<string, () => Error> = new Map([
  ['rude', () => userError('RudeText', 'spec.text is rude; write something friendly')],
  ['impossible', () => terminalError('NoVoice', 'nobody here can say that')],
  ['bug', () => new TypeError('undefined is not a function')],
]);

async function say(hello: Hello, context: ReconcileContext, log: HelloLog): Promise<Result> {
  const { text, seconds } = hello.spec;
  log.started?.(hello, context);
  const failure = FAILURES.get(text);
  if (failure !== undefined) throw failure();
  if (seconds > 0) await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const key = keyOf(hello);
  const { client } = context;
  await client.apply(ConfigMap, { metadata: { ...key, ...ownedBy(hello) }, data: { text } }, { force: true });
  if (hello.status?.said !== text) await client.applyStatus(Hello, { metadata: key, status: { said: text } });
  log.said?.(hello, context);
  return text === 'again' ? after(50) : DONE;
}

/** The program: started by tests in a process of its own, with flags after the script. */
export async function runHello(argv: readonly string[]): Promise<void> {
  const line = (text: string) => void process.stdout.write(`${text}\n`);
  await runProgram({
    name: 'hello',
    argv,
    env: process.env,
    homeDir: homedir(),
    host: process as never,
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    setup: (manager) => {
      const started = (hello: Hello) => line(`started ${hello.metadata.name}`);
      const said = (hello: Hello) => line(`said ${hello.metadata.name}`);
      manager.add(helloController({ started, said }));
      manager.whenLeading().then(
        () => line('leading'),
        () => {},
      );
    },
  });
}
