import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceAccount } from '../../src/api/generated/core-v1.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { Infrastructure, SINGLETON } from '../../src/api/openshift/config-v1.ts';
import type { LabCluster } from '../../src/lab/index.ts';
import { parseYaml, printYaml } from '../../src/object/yaml.ts';
import { outcomeOf } from './scratch.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const MAIN = join(ROOT, 'src', 'cli', 'main.ts');
/** Who the programs of the bootstrap machine are. */
const ACCOUNT = { namespace: 'kube-system', name: 'bootstrap' };
export const BOOTSTRAP_USER = `system:serviceaccount:${ACCOUNT.namespace}:${ACCOUNT.name}`;

export interface BootstrapInput {
  readonly images: KubeObject;
  readonly cloudConfig: KubeObject;
  readonly credentials: KubeObject;
}

/** What `slipway render bootstrap` writes for the example, by path below the folder that it was told. */
export async function renderedBootstrap(
  { client }: LabCluster,
  { images, cloudConfig, credentials }: BootstrapInput,
  scratch: string,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const infra = await client.get(Infrastructure, SINGLETON);
  const given = {
    'cluster-infrastructure-file': infra,
    'images-file': images,
    'cloud-config-file': cloudConfig,
    'credentials-file': credentials,
  };
  const flags: string[] = [];
  for (const [flag, object] of Object.entries(given)) {
    const file = join(scratch, `${flag}.yaml`);
    await writeFile(file, printYaml(object));
    flags.push(`--${flag}`, file);
  }
  const out = join(scratch, 'out');
  const { code, stderr } = await outcomeOf(
    process.execPath,
    [
      '--conditions=slipway-source',
      MAIN,
      'render',
      'bootstrap',
      '--provider',
      join(ROOT, 'examples', 'acme-cloud'),
      '--dest-dir',
      out,
      ...flags,
    ],
    { PATH: process.env['PATH'], HOME: scratch, LANG: 'C.UTF-8' },
  );
  assert.equal(code, 0, stderr);
  const files = (await readdir(out, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const paths = files.map((file) => join(file.parentPath, file.name));
  const contents = paths.map(async (path) => [path.slice(out.length + 1), await readFile(path)] as const);
  return new Map(await Promise.all(contents));
}

/** Where bootkube puts what was rendered: the bootstrap machine finds it there when it starts. */
const PLACES: readonly (readonly [RegExp, string])[] = [
  [/^bootstrap\//, '/etc/kubernetes/manifests/'],
  [/^config\//, '/etc/kubernetes/bootstrap-configs/'],
  [/^secrets\//, '/etc/kubernetes/bootstrap-secrets/'],
];

export function bootstrapFiles(
  rendered: ReadonlyMap<string, Uint8Array>,
  kubeconfig: string,
): ReadonlyMap<string, Uint8Array> {
  const placed = [...rendered].flatMap(([path, content]) =>
    PLACES.filter(([from]) => from.test(path)).map(([from, to]) => [path.replace(from, to), content] as const),
  );
  return new Map([...placed, ['/etc/kubernetes/bootstrap-secrets/kubeconfig', Buffer.from(kubeconfig)]]);
}

/** The kubeconfig of somebody who may do what these roles allow, anywhere. */
export async function bootstrapKubeconfig(cluster: LabCluster, roles: readonly KubeObject[]): Promise<string> {
  const { client } = cluster;
  await client.apply(ServiceAccount, { metadata: ACCOUNT }, { force: true });
  const rules = roles.flatMap((role) => ('rules' in role && Array.isArray(role.rules) ? role.rules : []));
  const metadata = { name: 'bootstrap' };
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name };
  const subjects = [{ kind: 'ServiceAccount', ...ACCOUNT }];
  const grants = [
    { apiVersion, kind: 'ClusterRole', metadata, rules },
    { apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects },
  ];
  await cluster.apply(grants.map((object) => `---\n${printYaml(object)}`).join(''));
  const { token } = await client.createToken(ACCOUNT);
  // The same server as that of the administrator, as somebody else.
  const admin = parseYaml(await readFile(cluster.kubeconfigPath, 'utf8')) as {
    readonly clusters: readonly object[];
  };
  const { clusters } = admin;
  const [entry] = clusters as readonly { readonly name: string }[];
  const context = { cluster: entry?.name ?? '', user: 'bootstrap' };
  return printYaml({
    apiVersion: 'v1',
    kind: 'Config',
    clusters,
    users: [{ name: 'bootstrap', user: { token } }],
    contexts: [{ name: 'bootstrap', context }],
    'current-context': 'bootstrap',
  });
}
