import { openshiftDefinitions } from '../../src/api/openshift/definitions.schema.ts';
import { CLOUD_CONFIG_SYNC } from '../../src/cloud-operator/program/run-config-sync.ts';
import { CLOUD_OPERATOR } from '../../src/cloud-operator/program/run-operator.ts';
import { requestAttributes } from '../../src/kube/rbac/request-attributes.ts';
import { isWrite } from '../../src/kube/transport/transport.ts';
import type { RecordedRequest } from '../../src/testing/recorder.ts';
import { TestEnv } from '../../src/testing/test-env.ts';
import { rollOut } from '../../test/support/cloud-operator-world.ts';
import { startOperatorProgram } from '../../test/support/operator-programs.ts';
import { available, describeAws, RELEASE } from './cluster.ts';
import { ALONE, authorityPem } from './contenders.ts';

export interface IdleFigures {
  readonly writes: number;
  /** Watches that ran out and began again. */
  readonly watches: number;
  /** Lists of metadata by which caches find out whether they have missed anything (reliability P21). */
  readonly comparisons: number;
  readonly others: number;
}

const IDLE_MS = 600_000;

/** What both programs ask of the server in ten minutes in which nothing happens, after everything is deployed. */
export async function idleFigures(): Promise<IdleFigures> {
  await using env = await TestEnv.start({
    kinds: openshiftDefinitions().map((definition) => ({ toCRD: () => definition })),
  });
  await describeAws(env.client);
  const bundle = await authorityPem();
  const shared = { argv: [ALONE], env: { RELEASE_VERSION: RELEASE } };
  const sync = { ...shared, name: 'config-sync', readText: () => Promise.resolve(bundle) };
  await using _sync = await startOperatorProgram(env, CLOUD_CONFIG_SYNC, sync);
  await using _operator = await startOperatorProgram(env, CLOUD_OPERATOR, shared);
  await env.settle();
  await rollOut(env);
  await env.throughTime(available(env.client, AbortSignal.timeout(LONGEST_MS)));
  await env.settle();
  const { recorder } = env;
  recorder.clear();
  await env.advance(IDLE_MS);
  const kinds = recorder.requests.map(kindOf);
  const count = (kind: keyof IdleFigures): number => kinds.filter((one) => one === kind).length;
  return {
    writes: count('writes'),
    watches: count('watches'),
    comparisons: count('comparisons'),
    others: count('others'),
  };
}

function kindOf(request: RecordedRequest): keyof IdleFigures {
  if (isWrite(request)) return 'writes';
  const { method, target } = request;
  const { verb } = requestAttributes(method, target);
  if (verb === 'watch') return 'watches';
  return verb === 'list' && target.includes('resourceVersionMatch=Exact') ? 'comparisons' : 'others';
}

/** Far more than it takes on a busy machine. */
const LONGEST_MS = 60_000;
