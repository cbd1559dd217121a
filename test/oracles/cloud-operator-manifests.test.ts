import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { ControlPlane } from '../../oracles/run/control-plane.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { chosenProvider } from '../../src/app/cloud-operator/chosen-provider.ts';
import { installationOf } from '../../src/app/cloud-operator/installation.ts';
import { dayOneFiles, installationFiles, type ManifestFile } from '../../src/cloud-operator/index.ts';
import { kubectl } from '../support/kubectl.ts';
import { startKubernetes } from '../support/kubernetes.ts';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';
import { becomeOpenShift, hasCorpus, stream } from '../support/operator-oracle-cluster.ts';

const needs = needsAll(
  needsOracle('etcd', { min: '3.5.13' }),
  needsOracle('kube-apiserver'),
  needsOracle('kubectl'),
);

const EXAMPLE = join(import.meta.dirname, '../../examples/acme-cloud');
/** The label that OpenShift gives its control plane; Kubernetes itself would like another. */
const KNOWN_WARNING = 'nodeSelector[node-role.kubernetes.io/master]';

const installations = [
  { name: 'for all platforms, in the place of the operator of the payload', word: undefined, mode: 'replace' },
  { name: 'for a partner, beside it', word: EXAMPLE, mode: 'sidecar' },
] as const;

const definitions = [
  { name: 'our definitions of its kinds', whose: 'ours', skip: false },
  {
    name: 'its own definitions',
    whose: 'theirs',
    skip: hasCorpus ? false : 'the definitions of the kinds of OpenShift are not on this machine',
  },
] as const;

for (const { name: kinds, whose, skip } of definitions) {
  describe(`what installs the cloud operator, on a real Kubernetes with ${kinds}`, skip ? { skip } : needs, () => {
    let cluster: ControlPlane;
    const parts = new AsyncDisposableStack();
    before(async () => {
      cluster = parts.use(await startKubernetes());
      await becomeOpenShift(cluster, whose);
    });
    after(() => parts.disposeAsync());

    /** Refuses fields that the server does not know. Returns what was done to each object. */
    async function apply(objects: readonly KubeObject[], ...flags: readonly string[]): Promise<readonly string[]> {
      const file = join(cluster.directory, 'manifests.yaml');
      await writeFile(file, stream(objects));
      const words = ['apply', '--validate=strict', ...flags, `--filename=${file}`];
      const { code, stdout, stderr } = await kubectl(cluster.admin, ...words);
      assert.equal(code, 0, stderr);
      const warnings = stderr.split('\n').filter((line) => line !== '' && !line.includes(KNOWN_WARNING));
      assert.deepEqual(warnings, []);
      return stdout.trimEnd().split('\n');
    }

    const flat = (files: readonly ManifestFile[]) => files.flatMap(({ objects }) => objects);

    for (const { name, word, mode } of installations) {
      it(`operator/R90, operator/R91: is accepted ${name}, and is the same when it is applied again`, async (t) => {
        const chosen = await chosenProvider(import.meta.dirname, word);
        const installation = installationOf(chosen, { image: 'example.com/operator:1', providerFile: '/p.ts' });
        assert.equal(installation.mode, mode);
        const [namespaces, ...files] = installationFiles(installation);
        // Nothing can be tried in a namespace that is not there.
        await apply(namespaces?.objects ?? []);
        const objects = flat(files);
        const tried = await apply(objects, '--dry-run=server');
        assert.equal(tried.length, objects.length);
        const made = await apply(objects);
        assert.deepEqual(
          made.filter((line) => !line.endsWith(' created')),
          [],
        );
        // Its status is for the cluster version operator; nobody else can write it in this way.
        const again = await apply(objects.filter(({ kind }) => kind !== 'ClusterOperator'));
        assert.deepEqual(
          again.filter((line) => !line.endsWith(' unchanged')),
          [],
        );
        // An installer has the same, without what only the cluster version operator understands.
        const dayOne = await apply(flat(dayOneFiles(installation)), '--dry-run=server');
        t.diagnostic(`${made.length + 2} objects, ${dayOne.length} of them on the first day`);
      });
    }
  });
}
