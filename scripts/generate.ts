// Writes src/apiserver/generated/ from a real kube-apiserver and the Go sources it was built from, and from these tables
// the built-in kinds in src/api/generated/ and the shapes of operands in src/cloud-operator/render/generated/.
//   generate.ts [--check] [--kinds] [--kubeconfig FILE]
// --check writes nothing and fails when the files are not what would be written. --kinds leaves the tables as they are and
// needs no server. Without --kubeconfig a server is started.
import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Json, JsonObject } from '../src/object/json.ts';
import { startKubernetes } from '../test/support/kubernetes.ts';
import { RawClient } from '../test/support/raw-client.ts';
import { fieldShapeFiles } from './generate-field-shapes.ts';
import { kindFiles } from './generate-kinds.ts';
import { policyTable } from './generate-policy.ts';
import { MessageReader } from './generate-protobuf.ts';
import { type GroupVersion, packageOf, resourceRows } from './generate-resources.ts';
import { schemaTables } from './generate-schemas.ts';

/** A folder and what in it is written here, which is all. */
interface Target {
  readonly folder: string;
  readonly ownFiles: readonly string[];
}

const TABLES: Target = {
  folder: 'src/apiserver/generated',
  ownFiles: ['*.json', 'schemas/*.json', 'protobuf/*.json'],
};
const KINDS: Target = { folder: 'src/api/generated', ownFiles: ['*.ts'] };
const SHAPES: Target = { folder: 'src/cloud-operator/render/generated', ownFiles: ['*.ts'] };
const MODULES = ['k8s.io/api', 'k8s.io/apimachinery', 'k8s.io/apiextensions-apiserver', 'k8s.io/kube-aggregator'];
/** Not in section 19 of the specification. */
const LEFT_OUT_GROUPS = ['resource.k8s.io'];
/** Kinds that belong to every group. */
const META_KINDS = [
  'CreateOptions',
  'DeleteOptions',
  'GetOptions',
  'ListOptions',
  'PatchOptions',
  'Status',
  'UpdateOptions',
];

async function generated(kubeconfig: string | undefined): Promise<ReadonlyMap<string, string>> {
  if (kubeconfig !== undefined) return read(kubeconfig);
  await using cluster = await startKubernetes();
  return await read(cluster.admin);
}

async function read(kubeconfig: string): Promise<ReadonlyMap<string, string>> {
  using client = new RawClient(kubeconfig);
  const { gitVersion } = await client.json<{ gitVersion: string }>('/version');
  const groupVersions = await servedVersions(client);
  const documents = await Promise.all(
    groupVersions.map((gv) => client.json<JsonObject>(`/openapi/v3${pathOf(gv)}`)),
  );
  const schemas = schemaTables(documents);
  const flat = [...schemas.values()].flatMap((table) => [...table]);
  const rows = await Promise.all(
    groupVersions.map(async (gv): Promise<JsonObject> => {
      const list = await client.json<Parameters<typeof resourceRows>[1]>(pathOf(gv));
      const resources = resourceRows(gv, list, groupVersions);
      return { group: gv.group, version: gv.version, package: packageOf(gv, flat), resources };
    }),
  );
  const messages = new MessageReader(sourceDirectories()).tables(messageRoots(rows, flat));
  const header = { generator: 'scripts/generate.ts', kubernetes: gitVersion };
  const tables: [string, string][] = [
    ...[...schemas].map(([name, table]): [string, string] => [`schemas/${name}.json`, tableText(header, table)]),
    ...[...messages].map(([name, table]): [string, string] => [`protobuf/${name}.json`, tableText(header, table)]),
  ];
  const groups: [string, Json][] = rows.map((row, at) => [String(at), row]);
  const policy = tableText(header, await policyTable(client));
  return new Map([['resources.json', tableText(header, new Map(groups))], ['policy.json', policy], ...tables]);
}

/** In the order of discovery, which is upstream's order of preference. */
async function servedVersions(client: RawClient): Promise<readonly GroupVersion[]> {
  const { groups } = await client.json<{ groups: { name: string; versions: { version: string }[] }[] }>('/apis');
  const builtIn = groups.filter(({ name }) => isBuiltIn(name));
  const named = builtIn.flatMap(({ name: group, versions }) =>
    versions.map(({ version }) => ({ group, version })),
  );
  return [{ group: '', version: 'v1' }, ...named];
}

const isBuiltIn = (group: string): boolean =>
  (!group.includes('.') || group.endsWith('.k8s.io')) && !LEFT_OUT_GROUPS.includes(group);

const pathOf = ({ group, version }: GroupVersion): string =>
  group === '' ? `/api/${version}` : `/apis/${group}/${version}`;

/** Every kind of a served group version that has a schema, and the options. */
function messageRoots(rows: readonly JsonObject[], schemas: readonly (readonly [string, Json])[]): string[] {
  const packages = new Set(rows.map((row) => row['package']));
  const kinds = schemas.filter(
    ([name, schema]) =>
      packages.has(name.slice(0, name.lastIndexOf('.'))) &&
      Object.hasOwn(schema as JsonObject, 'x-kubernetes-group-version-kind'),
  );
  const names = [...kinds.map(([name]) => protoName(name)), 'k8s.io.api.policy.v1.Eviction'];
  return [...names, ...META_KINDS.map((kind) => `k8s.io.apimachinery.pkg.apis.meta.v1.${kind}`)];
}

function protoName(name: string): string {
  if (name.startsWith('apiextensions.')) return `k8s.io.apiextensions_apiserver.pkg.apis.${name}`;
  if (name.startsWith('apiregistration.')) return `k8s.io.kube_aggregator.pkg.apis.${name}`;
  return `k8s.io.api.${name}`;
}

/** Maps a protobuf package to a folder of the module cache, which Go fills when it has to. */
function sourceDirectories(): (protoPackage: string) => string {
  const output = execFileSync('go', ['mod', 'download', '-json', ...MODULES], {
    cwd: 'oracles/kubernetes',
    encoding: 'utf8',
  });
  const modules: { Path: string; Dir: string }[] = JSON.parse(`[${output.replaceAll(/^\}$/gm, '},')}{}]`);
  return (protoPackage) => {
    const path = protoPackage
      .replace(/^k8s\.io\./, 'k8s.io/')
      .replaceAll('.', '/')
      .replace('k8s/io', 'k8s.io')
      .replaceAll('_', '-');
    const found = modules.find(({ Path }) => Path !== undefined && `${path}/`.startsWith(`${Path}/`));
    if (found === undefined) throw new Error(`no module holds ${protoPackage}`);
    return join(found.Dir, path.slice(found.Path.length));
  };
}

/** One entry a line, sorted, so that a difference shows which type changed. */
function tableText(header: JsonObject, table: ReadonlyMap<string, Json>): string {
  const entries = [...table].sort(([a], [b]) => compareNames(a, b));
  const lines = entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  const head = JSON.stringify(header).slice(1, -1);
  return `{${head},"entries":{\n${lines.join(',\n')}\n}}\n`;
}

/** Numbers by value: the groups are listed in order. */
const compareNames = (a: string, b: string): number => Number(a) - Number(b) || (a < b ? -1 : 1);

type Files = ReadonlyMap<string, string>;

const present = ({ folder, ownFiles }: Target): readonly string[] => globSync([...ownFiles], { cwd: folder });

function write(target: Target, files: Files): void {
  const { folder } = target;
  for (const name of present(target)) rmSync(join(folder, name));
  for (const [name, text] of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const bytes = [...files.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  process.stdout.write(`${files.size} files, ${Math.round(bytes / 1000)} kB in ${folder}\n`);
}

function check(target: Target, files: Files): void {
  const { folder } = target;
  const found = present(target);
  const stale = [...files].filter(
    ([name, text]) => !found.includes(name) || readFileSync(join(folder, name), 'utf8') !== text,
  );
  const problems = [
    ...stale.map(([name]) => `${folder}/${name} is not what scripts/generate.ts writes`),
    ...found.filter((name) => !files.has(name)).map((name) => `${folder}/${name} is not generated any more`),
  ];
  for (const problem of problems) process.stderr.write(`${problem}; run \`npm run generate\`\n`);
  if (problems.length > 0) process.exitCode = 1;
  else process.stdout.write(`${files.size} generated files are up to date in ${folder}\n`);
}

const { values } = parseArgs({
  options: { check: { type: 'boolean' }, kinds: { type: 'boolean' }, kubeconfig: { type: 'string' } },
});
const finish = values.check === true ? check : write;
if (values.kinds !== true) finish(TABLES, await generated(values.kubeconfig));
// The kinds and their shapes follow from the tables that are there now.
finish(KINDS, kindFiles(TABLES.folder));
finish(SHAPES, fieldShapeFiles(TABLES.folder));
