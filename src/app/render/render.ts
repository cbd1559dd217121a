import { resolve } from 'node:path';
import { dispositionOf, messageOf } from '../../base/errors.ts';
import type { InstallOptions } from '../../cloud/index.ts';
import type { ProviderDefinition } from '../../sdk/provider/provider-definition.ts';
import { chosenProvider } from '../cloud-operator/chosen-provider.ts';
import { installationOf } from '../cloud-operator/installation.ts';
import { CommandError, usageError } from '../failures.ts';
import { shownPath } from '../journey/plain-text.ts';
import { suggestion } from '../nearest.ts';
import { loadProvider } from '../provider/load-provider.ts';
import { IMAGE_SETTING, releaseImage, releaseVersion } from '../release.ts';
import { shown } from '../settings.ts';
import type { ExitCode, VerbRun } from '../verb.ts';
import { RENDER_SETTINGS } from '../verbs/render.ts';
import { FOLDERS_ONLY, renderAgent, renderAgentDefinitions, repositoryHint } from './agent-files.ts';
import { BOOTSTRAP_FLAGS, bootstrapFor } from './bootstrap-files.ts';
import { RENDER_TARGETS, type RenderTarget, renderInput } from './cloud-manager-files.ts';
import { givenImages, renderCloudOperator } from './cloud-operator-files.ts';
import { headerText, withHeader } from './header.ts';
import { missingImageHint, requireImage } from './image.ts';
import {
  driftOf,
  type FolderFile,
  type FolderOwner,
  removeFiles,
  staleFiles,
  writeFiles,
} from './output-folder.ts';
import type { Rendered } from './rendered.ts';

const COMPONENTS = ['cloud-controller-manager'];

/** Where a project has its definition, and where an image made of it has. */
const DEFAULT_FILE = 'provider.ts';
const IMAGE_FILE = '/provider/provider.ts';

const hasPods = (what: RenderTarget): boolean => what !== 'rbac';

/** `slipway render WHAT`: to standard output, into a folder, or compared with one. */
export const runRender: VerbRun<typeof RENDER_SETTINGS> = async (context, settings, [word = '']) => {
  const what = targetNamed(word);
  requireComponent(settings.component);
  requireSuitable(what, settings);
  if (isForInstaller(what, settings)) requireOfInstaller(settings, context.env);
  const out = folderOf(settings, context.folder);
  if (settings.check && out === undefined) {
    throw usageError('--check compares with a folder: name it with --out');
  }
  if (settings.image !== undefined) requireImage(settings.image);
  const { provider, rendered, hints, afterwards = [] } = await preparedFor(what, context, { ...settings, out });
  const header = headerText({ version: releaseVersion(), what, provider, input: rendered.input });
  for (const hint of [...hints, ...rendered.hints]) context.output.hint(hint);
  if (out === undefined) return printed(context, rendered, header);
  const folder = resolve(context.folder, out);
  const hasPlain = rendered.plain !== undefined;
  const place = { folder, shown: shownPath(context.folder, folder), what, provider, hasPlain };
  const files = folderFiles(rendered, header);
  if (settings.check) return checked(context, place, files);
  await written(context, place, files, rendered.folders);
  for (const hint of afterwards) context.output.hint(hint);
  return 0;
};

const folderFiles = ({ files, plain = [] }: Rendered, header: string): readonly FolderFile[] => [
  ...files.map(({ path, text }) => ({ path, text: withHeader(path, header, text) })),
  ...plain.map(({ path, content, isSecret }) => ({ path, text: content, isPlain: true, isSecret })),
];

type Context = Parameters<VerbRun<typeof RENDER_SETTINGS>>[0];
type Settings = Parameters<VerbRun<typeof RENDER_SETTINGS>>[1];

type Target = RenderTarget | 'cloud-operator' | 'agent' | 'agent-crds';

const TARGETS: readonly Target[] = ['deploy', 'rbac', 'bootstrap', 'cloud-operator', 'agent', 'agent-crds'];

function targetNamed(word: string): Target {
  const found = TARGETS.find((name) => name === word);
  if (found !== undefined) return found;
  throw usageError(
    `slipway render makes no "${shown(word)}"${suggestion(word, TARGETS) || `; there are: ${TARGETS.join(', ')}`}`,
  );
}

/** What the cloud operator decides itself for what it deploys. */
const INSTALLED: readonly Target[] = ['deploy', 'rbac', 'bootstrap'];

/** What has a definition of a partner. */
const OF_PROVIDER: readonly Target[] = [...INSTALLED, 'cloud-operator'];

/** Flags that nobody would look at are a mistake of whoever gives them. */
const ONLY_FOR = {
  provider: OF_PROVIDER,
  tls: ['agent'],
  mode: ['cloud-operator'],
  day1: ['cloud-operator'],
  'cluster-infrastructure-file': ['bootstrap'],
  'images-file': ['bootstrap', 'cloud-operator'],
  'cloud-config-file': ['bootstrap'],
  'credentials-file': ['bootstrap'],
  namespace: INSTALLED,
  topology: INSTALLED,
  'secure-port': INSTALLED,
  'cloud-config': INSTALLED,
  'cluster-name': INSTALLED,
  'use-service-account-credentials': INSTALLED,
} as const satisfies Readonly<Partial<Record<keyof Settings, readonly Target[]>>>;

function requireSuitable(what: Target, settings: Settings): void {
  for (const flag of Object.keys(ONLY_FOR) as readonly (keyof typeof ONLY_FOR)[]) {
    const targets: readonly Target[] = ONLY_FOR[flag];
    if (settings[flag] === RENDER_SETTINGS[flag].default || targets.includes(what)) continue;
    const listed = targets.join(', ').replace(/, (?=[^,]*$)/, ' and ');
    throw usageError(`--${flag} is of ${listed}, not of ${what}`);
  }
}

/** Two names for one thing have to mean the same. */
function folderOf({ out, 'dest-dir': other }: Settings, folder: string): string | undefined {
  if (out !== undefined && other !== undefined && resolve(folder, out) !== resolve(folder, other)) {
    throw usageError('--out and --dest-dir are the same, and name two folders: give one of them');
  }
  return out ?? other;
}

/** Whether it is given what an installer has. */
const isForInstaller = (what: Target, settings: Settings): boolean =>
  what === 'bootstrap' && BOOTSTRAP_FLAGS.some((flag) => settings[flag] !== undefined);

/** What those files decide, or what the pods of a platform do not have. */
const NOT_OF_INSTALLER = [
  'image',
  'namespace',
  'topology',
  'secure-port',
  'cloud-config',
  'cluster-name',
  'use-service-account-credentials',
] as const;

function requireOfInstaller(settings: Settings, env: Context['env']): void {
  for (const flag of NOT_OF_INSTALLER) {
    const value = settings[flag];
    // The variable is for every verb, whether it looks at it or not.
    const isOfAll = flag === 'image' && value === env[IMAGE_SETTING.env];
    if (value === RENDER_SETTINGS[flag].default || isOfAll) continue;
    throw usageError(`--${flag} is of bootstrap without --cluster-infrastructure-file and --images-file`);
  }
}

/** What is written, and for whom. */
interface Prepared {
  readonly provider: string;
  readonly rendered: Rendered;
  readonly hints: readonly string[];
  /** What to do with files, once they are written. */
  readonly afterwards?: readonly string[];
}

/** As the header calls it where no provider is named. */
const PLATFORMS = 'openshift';
const AGENT = 'cluster-api';

async function preparedFor(what: Target, { folder }: Context, settings: Settings): Promise<Prepared> {
  const missing = settings.image === undefined ? [missingImageHint()] : [];
  if (what === 'agent') return agentFor(folder, settings);
  if (what === 'agent-crds') return { provider: AGENT, rendered: renderAgentDefinitions(), hints: [] };
  if (what === 'cloud-operator') return operatorFor(folder, settings, missing);
  if (isForInstaller(what, settings)) {
    const chosen = await chosenProvider(folder, settings.provider);
    const rendered = await asked(() => bootstrapFor(folder, settings, chosen));
    return { provider: chosen.id ?? PLATFORMS, rendered, hints: [] };
  }
  const { definition } = await loadProvider(folder, settings.provider ?? DEFAULT_FILE);
  const rendered = await asked(() => renderedFor(what, definition, optionsOf(settings)));
  return { provider: definition.name, rendered, hints: hasPods(what) ? missing : [] };
}

/** Its pods run the released image, which has everything. */
function agentFor(folder: string, { image = releaseImage(), tls: signer, out }: Settings): Prepared {
  const version = releaseVersion();
  const rendered = renderAgent({ image, signer, version });
  if (out === undefined) return { provider: AGENT, rendered, hints: [FOLDERS_ONLY] };
  return { provider: AGENT, rendered, hints: [], afterwards: [repositoryHint(version, resolve(folder, out))] };
}

async function operatorFor(folder: string, settings: Settings, missing: readonly string[]): Promise<Prepared> {
  const chosen = await chosenProvider(folder, settings.provider);
  const { image = releaseImage(), mode, day1 } = settings;
  const rendered = await asked(async () => {
    const given = await givenImages(folder, settings, chosen.registry.imageKeys());
    const wish = { image, mode, providerFile: IMAGE_FILE, ...(given !== undefined && { images: given.images }) };
    const required = chosen.registry.requiredImages({ provider: chosen.id });
    const made = renderCloudOperator(installationOf(chosen, wish), day1, required);
    return { ...made, hints: [...(given?.hints ?? []), ...made.hints] };
  });
  return { provider: chosen.id ?? PLATFORMS, rendered, hints: chosen.external === undefined ? [] : missing };
}

/** What a user can put right is wrong usage here: nothing was done yet. */
async function asked<T>(make: () => T | Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (error) {
    const disposition = dispositionOf(error);
    if (disposition !== 'user' && disposition !== 'terminal') throw error;
    throw new CommandError('SW1002', 2, messageOf(error), error);
  }
}

function requireComponent(name: string): void {
  if (COMPONENTS.includes(name)) return;
  const hint = suggestion(name, COMPONENTS) || `; there are: ${COMPONENTS.join(', ')}`;
  throw usageError(`there is no component "${shown(name)}"${hint}`);
}

const CLOUD_CONFIGS = { none: undefined, configmap: 'ConfigMap', secret: 'Secret' } as const;

function optionsOf(settings: Settings): InstallOptions {
  const { namespace, topology } = settings;
  const cloudConfig = CLOUD_CONFIGS[settings['cloud-config']];
  const clusterName = settings['cluster-name'];
  return {
    image: settings.image ?? releaseImage(),
    ...(namespace !== undefined && { namespace }),
    topology,
    securePort: settings['secure-port'],
    ...(cloudConfig !== undefined && { cloudConfig }),
    ...(clusterName !== undefined && { clusterName }),
    usesAccounts: settings['use-service-account-credentials'],
  };
}

function renderedFor(what: RenderTarget, definition: ProviderDefinition, options: InstallOptions): Rendered {
  const { files, hints } = RENDER_TARGETS[what].render(definition, options);
  return { files, hints, input: renderInput(what, definition, options) };
}

/** As one stream for a cluster: what is for people or other programs is left to the folder. */
function printed({ output }: Context, { files, plain = [] }: Rendered, header: string): ExitCode {
  for (const { path } of plain) output.hint(`${path} is for a folder only: name one with --dest-dir`);
  const documents = files.filter(({ objects }) => objects.length > 0);
  const stream = documents.map(({ text }) => `---\n${text}`).join('');
  const items = documents.flatMap(({ objects }) => objects);
  output.result(`# ${header}\n${stream.trimEnd()}`, { apiVersion: 'v1', kind: 'List', items });
  return 0;
}

interface Place extends FolderOwner {
  readonly folder: string;
  readonly shown: string;
}

async function written(
  { output }: Context,
  place: Place,
  files: readonly FolderFile[],
  folders?: readonly string[],
): Promise<void> {
  await writeFiles(place.folder, files, folders);
  const stale = await staleFiles(place.folder, files, place);
  const removed = stale.filter(({ isOwn }) => isOwn).map(({ path }) => path);
  await removeFiles(place.folder, removed);
  for (const { path, isSecret } of stale.filter(({ isOwn }) => !isOwn)) {
    const file = `${place.shown}/${path}`;
    output.hint(
      isSecret === true
        ? `${file} is no longer rendered; it stays, and holds a credential: remove it with: rm ${file}`
        : `${file} is no longer rendered; it stays, since it may hold the work of somebody: remove it yourself`,
    );
  }
  const paths = files.map(({ path }) => path);
  const lines = [
    `written to ${place.shown}:`,
    ...paths.map((path) => `  ${path}`),
    ...(removed.length === 0 ? [] : ['removed, because they are no longer rendered:']),
    ...removed.map((path) => `  ${path}`),
  ];
  output.result(lines.join('\n'), { folder: place.folder, files: paths, removed });
}

async function checked({ output }: Context, place: Place, files: readonly FolderFile[]): Promise<ExitCode> {
  const drift = await driftOf(place.folder, files, place);
  const lines = drift.map(({ path, problem }) => `  ${path}: ${problem}`);
  const text =
    drift.length === 0
      ? `${place.shown} is as slipway render ${place.what} writes it`
      : [`${place.shown} differs from what slipway render ${place.what} writes:`, ...lines].join('\n');
  output.result(text, { folder: place.folder, drift });
  return drift.length === 0 ? 0 : 1;
}
