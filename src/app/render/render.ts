import { resolve } from 'node:path';
import { dispositionOf, messageOf } from '../../base/errors.ts';
import type { InstallOptions } from '../../cloud/index.ts';
import type { ProviderDefinition } from '../../sdk/provider/provider-definition.ts';
import { CommandError, usageError } from '../failures.ts';
import { shownPath } from '../journey/plain-text.ts';
import { suggestion } from '../nearest.ts';
import { loadProvider } from '../provider/load-provider.ts';
import { releaseImage, releaseVersion } from '../release.ts';
import { shown } from '../settings.ts';
import type { ExitCode, VerbRun } from '../verb.ts';
import type { RENDER_SETTINGS } from '../verbs/render.ts';
import { RENDER_TARGETS, type RenderTarget, renderInput } from './cloud-manager-files.ts';
import { headerText, withHeader } from './header.ts';
import { missingImageHint, requireImage } from './image.ts';
import { driftOf, type FolderFile, removeFiles, staleFiles, writeFiles } from './output-folder.ts';
import type { Rendered } from './rendered.ts';

const COMPONENTS = ['cloud-controller-manager'];

/** Roles name no image. */
const hasPods = (what: RenderTarget): boolean => what !== 'rbac';

/** `slipway render WHAT`: to standard output, into a folder, or compared with one. */
export const runRender: VerbRun<typeof RENDER_SETTINGS> = async (context, settings, [word = '']) => {
  const what = targetNamed(word);
  requireComponent(settings.component);
  if (settings.check && settings.out === undefined) {
    throw usageError('--check compares with a folder: name it with --out');
  }
  if (settings.image !== undefined) requireImage(settings.image);
  const { definition } = await loadProvider(context.folder, settings.provider);
  const rendered = renderedFor(what, definition, optionsOf(settings));
  const header = headerText({ version: releaseVersion(), what, provider: definition.name, input: rendered.input });
  const hints = hasPods(what) && settings.image === undefined ? [missingImageHint()] : [];
  for (const hint of [...hints, ...rendered.hints]) context.output.hint(hint);
  if (settings.out === undefined) return printed(context, rendered, header);
  const folder = resolve(context.folder, settings.out);
  const files = rendered.files.map(({ path, text }) => ({ path, text: withHeader(path, header, text) }));
  const place = { folder, shown: shownPath(context.folder, folder), what, provider: definition.name };
  return settings.check ? checked(context, place, files) : written(context, place, files);
};

type Context = Parameters<VerbRun<typeof RENDER_SETTINGS>>[0];
type Settings = Parameters<VerbRun<typeof RENDER_SETTINGS>>[1];

function targetNamed(word: string): RenderTarget {
  const known = Object.keys(RENDER_TARGETS);
  const isKnown = (name: string): name is RenderTarget => Object.hasOwn(RENDER_TARGETS, name);
  if (isKnown(word)) return word;
  throw usageError(
    `slipway render makes no "${shown(word)}"${suggestion(word, known) || `; there are: ${known.join(', ')}`}`,
  );
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

/** What a user can put right is wrong usage here: nothing was done yet. */
function renderedFor(what: RenderTarget, definition: ProviderDefinition, options: InstallOptions): Rendered {
  try {
    const { files, hints } = RENDER_TARGETS[what].render(definition, options);
    return { files, hints, input: renderInput(what, definition, options) };
  } catch (error) {
    if (dispositionOf(error) !== 'user') throw error;
    throw new CommandError('SW1002', 2, messageOf(error), error);
  }
}

/** As one stream for a cluster: what is for people or other programs is left to the folder. */
function printed({ output }: Context, { files }: Rendered, header: string): ExitCode {
  const documents = files.filter(({ objects }) => objects.length > 0);
  const stream = documents.map(({ text }) => `---\n${text}`).join('');
  const items = documents.flatMap(({ objects }) => objects);
  output.result(`# ${header}\n${stream.trimEnd()}`, { apiVersion: 'v1', kind: 'List', items });
  return 0;
}

interface Place {
  readonly folder: string;
  readonly shown: string;
  readonly what: RenderTarget;
  readonly provider: string;
}

async function written({ output }: Context, place: Place, files: readonly FolderFile[]): Promise<ExitCode> {
  await writeFiles(place.folder, files);
  const stale = await staleFiles(place.folder, files, place);
  const removed = stale.filter(({ isOwn }) => isOwn).map(({ path }) => path);
  await removeFiles(place.folder, removed);
  for (const { path } of stale.filter(({ isOwn }) => !isOwn)) {
    output.hint(
      `${place.shown}/${path} is no longer rendered; it stays, since it may hold the work of somebody: remove it yourself`,
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
  return 0;
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
