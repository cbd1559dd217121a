import { homedir } from 'node:os';
import { after, before, describe } from 'node:test';
import { SystemClock } from '../../src/base/clock.ts';
import { SILENT_LOG } from '../../src/base/log.ts';
import { loadKubeconfig } from '../../src/kube/config/kubeconfig.ts';
import { connect } from '../../src/kube/transport/connection.ts';
import { startKubernetes } from '../support/kubernetes.ts';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';
import { operandSuite, workloadSuite } from '../support/operator-apply-suite.ts';
import { type ApplyServer, ApplyWorld } from '../support/operator-apply-world.ts';

const needs = needsAll(needsOracle('etcd', { min: '3.5.13' }), needsOracle('kube-apiserver'));

describe('applying operands of the cloud operator, on a real Kubernetes', needs, () => {
  const parts = new AsyncDisposableStack();
  let server: ApplyServer;
  let worlds = 0;
  before(async () => {
    const { admin } = parts.use(await startKubernetes());
    const clock = new SystemClock();
    const access = await loadKubeconfig({ env: {}, homeDir: homedir(), kubeconfigFlag: admin });
    server = { transport: parts.use(connect(access, { clock, log: SILENT_LOG })).transport, clock };
  });
  after(() => parts.disposeAsync());
  const open = () => ApplyWorld.open(server, `apply-${++worlds}`);
  operandSuite(open);
  workloadSuite(open);
});
