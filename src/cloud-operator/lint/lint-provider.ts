import { readdirSync, readFileSync } from 'node:fs';
import { sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type {
  AssetSource,
  CloudProvider,
  CloudProviderDefinition,
  LintWaiver,
  RenderContext,
} from '../definition.ts';
import { cloudNameOf } from '../render/common-objects.ts';
import { readObject } from '../render/decode.ts';
import { specimenContext } from '../render/specimen.ts';
import { templateValues } from '../render/values.ts';
import { ASSET_RULES } from './asset-rules.ts';
import { type FileFinding, type LintManifest, lintManifests, lintRead, scopeOf } from './lint-manifests.ts';
import { PROVIDER_RULES } from './provider-rules.ts';
import type { LintContext, RuleText } from './rule.ts';

/** What a definition comes to: what is wrong, without what it waives, and waivers that nothing needs. */
export interface ProviderReport {
  readonly findings: readonly FileFinding[];
  readonly waived: readonly FileFinding[];
  /** `CCM-W13`, or `CCM-W13 on Deployment/a`: stale, since it hides the next one. */
  readonly unusedWaivers: readonly string[];
}

const BOTH = ['assets', 'bootstrap'] as const;
const MANIFEST = /\.(?:ya?ml|json)$/;

/** Looks at everything that a provider brings, as it would be rendered for this cluster. Reads its folders. */
export function lintCloudProvider(provider: CloudProvider, given: RenderContext): ProviderReport {
  const { definition } = provider;
  // Without an image that must be there nothing could be rendered, and so nothing else be found.
  const context = { ...given, images: new Map([...specimenContext(definition).images, ...given.images]) };
  const all = [
    ...BOTH.flatMap((place) => sourceFindings(definition, place, context)),
    ...imageFindings(definition, given),
    ...copyFindings(provider, context),
  ];
  const waivers = definition.lint?.ignore ?? [];
  const isFor = ({ rule, object }: LintWaiver, finding: FileFinding) =>
    rule === finding.rule && (object === undefined || object === finding.object);
  const isWaived = (finding: FileFinding) => waivers.some((waiver) => isFor(waiver, finding));
  const unused = waivers.filter((waiver) => !all.some((finding) => isFor(waiver, finding)));
  return {
    findings: all.filter((finding) => !isWaived(finding)),
    waived: all.filter(isWaived),
    unusedWaivers: unused.map(({ rule, object }) => (object === undefined ? rule : `${rule} on ${object}`)),
  };
}

const sourceOf = (definition: CloudProviderDefinition, place: LintManifest['place']): AssetSource | undefined =>
  place === 'assets' ? definition.assets : definition.bootstrapAssets;

function sourceFindings(
  definition: CloudProviderDefinition,
  place: LintManifest['place'],
  context: RenderContext,
): readonly FileFinding[] {
  const source = sourceOf(definition, place);
  if (source === undefined) return [];
  const rules = lintContextOf(definition, context);
  if ('objects' in source) {
    return source.objects.flatMap((object, index) => {
      const manifest = { file: `${place}/objects[${index}]`, place, text: '' };
      const read = readObject(object, manifest.file, scopeOf(place));
      return lintRead(read, manifest, rules).map((finding) => ({ ...finding, file: manifest.file }));
    });
  }
  const { folder, files } = source;
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) =>
    name.split(sep).join('/'),
  );
  const unlisted = found.filter((name) => MANIFEST.test(name) && !files.includes(name));
  const manifests = files.map((name): LintManifest => {
    const text = readFileSync(new URL(name, folder.href.endsWith('/') ? folder : `${folder.href}/`), 'utf8');
    return { file: `${place}/${name}`, place, text };
  });
  return [
    ...lintManifests(manifests, rules, templateValues(definition, context)),
    ...unlisted.map((name) =>
      findingOf(ASSET_RULES.files, `${place}/${name}`, 'is in the folder and not in the list'),
    ),
  ];
}

/** What the definition says that its manifests must fit. */
export const lintContextOf = (definition: CloudProviderDefinition, context: RenderContext): LintContext => ({
  managedNamespace: context.managedNamespace,
  hasCloudConfig: definition.cloudConfig !== undefined,
  boundContainers: new Set(Object.values(definition.images).flatMap(({ container }) => container ?? [])),
  boundImages: new Set(Object.keys(definition.images).flatMap((key) => context.images.get(key) ?? [])),
  secrets: new Set((definition.credentials ?? []).map(({ secretName }) => secretName)),
  platformLabel: cloudNameOf(definition, context),
});

const findingOf = ({ id, severity }: RuleText, file: string, message: string): FileFinding => ({
  rule: id,
  severity,
  file,
  message: `${file}: ${message}`,
});

function imageFindings(definition: CloudProviderDefinition, { images }: RenderContext): readonly FileFinding[] {
  const bindings = Object.entries(definition.images);
  const tags = bindings.map(([, { payloadTag }]) => payloadTag);
  const repeated = new Set(tags.filter((tag, index) => tags.indexOf(tag) !== index));
  const finding = (rule: RuleText, message: string) => ({ ...findingOf(rule, 'definition', message), message });
  return [
    ...bindings
      .filter(([key, { optional }]) => optional !== true && !images.has(key))
      .map(([key]) => finding(PROVIDER_RULES.imageKeys, `images.json has no key ${key}`)),
    ...[...repeated].map((tag) =>
      finding(PROVIDER_RULES.payloadTags, `payload tag ${tag} is that of more than one image key`),
    ),
    ...bindings
      // What is not in a payload is published by whoever brings it.
      .filter(([, { isPublished }]) => isPublished !== true && definition.match.type !== 'External')
      .map(([, { payloadTag }]) =>
        finding(PROVIDER_RULES.unpublished, `payload tag ${payloadTag} is not marked published`),
      ),
  ];
}

function copyFindings(provider: CloudProvider, context: RenderContext): readonly FileFinding[] {
  const calls = {
    getResources: () => provider.getResources(context),
    getBootstrapResources: () => provider.getBootstrapResources(context),
  };
  return Object.entries(calls).flatMap(([name, call]) => {
    const [first, second] = [call(), call()];
    const known = partsOf(first);
    const isShared = [...partsOf(second)].some((part) => known.has(part));
    return [
      ...(isShared ? [findingOf(PROVIDER_RULES.copies, name, 'returns shared references')] : []),
      ...(isDeepStrictEqual(first, second)
        ? []
        : [findingOf(ASSET_RULES.files, name, 'renders something else at the second call')]),
    ];
  });
}

/** The objects and lists in a value, with those in them. */
function partsOf(value: unknown, found = new Set<unknown>()): ReadonlySet<unknown> {
  if (typeof value !== 'object' || value === null || found.has(value)) return found;
  found.add(value);
  for (const part of Object.values(value)) partsOf(part, found);
  return found;
}
