import { isRecord } from '../../object/record.ts';
import type { LocatedYaml } from '../../object/yaml.ts';
import { type CloudProviderDefinition, MANAGED_NAMESPACE } from '../definition.ts';
import { specimenContext } from '../render/specimen.ts';
import { templateValues } from '../render/values.ts';
import { ASSET_RULES } from './asset-rules.ts';
import { type FileFinding, type LintManifest, lintManifests } from './lint-manifests.ts';
import { lintContextOf } from './lint-provider.ts';
import { located } from './located.ts';
import type { LintContext } from './rule.ts';

/** A file without a definition that would say what it is for. */
export interface LooseFile {
  readonly file: string;
  /**
   * `assets`: what the operator applies; `bootstrap`: static pods; both of one object each, as definitions have them. `any`:
   * objects of all kinds, where Pods are static pods. `beside`: only CredentialsRequests count.
   */
  readonly place: LintManifest['place'] | 'any' | 'beside';
  readonly text: string;
}

/** What only a definition would say. */
export type LooseFacts = Pick<LintContext, 'hasCloudConfig'> & Partial<Pick<LintContext, 'managedNamespace'>>;

/** What the operator gives an image without being told by a definition (R25.3). */
const BOUND = ['cloud-controller-manager', 'cloud-node-manager'] as const;
const IMAGE_FIELD = /\{\{[^{}]*\.images\.(?<field>[A-Za-z_]\w*)/g;

/**
 * What is wrong with manifests that have no definition beside them. Templates get the values that every template has, and images
 * of whatever name. CredentialsRequests outside of `assets` and `bootstrap` declare Secrets. Pure.
 */
export function lintFiles(
  files: readonly LooseFile[],
  { hasCloudConfig, managedNamespace = MANAGED_NAMESPACE }: LooseFacts,
): readonly FileFinding[] {
  const definition = assumedDefinition(files);
  const context = { ...specimenContext(definition), managedNamespace };
  const documents = files.map((file) => ({ file, held: documentsOf(file) }));
  const secrets = new Set(documents.flatMap(({ held }) => held.flatMap((one) => requestedSecret(one) ?? [])));
  const { platformLabel: _unknown, ...known } = lintContextOf(definition, context);
  const rules: LintContext = { ...known, hasCloudConfig, secrets };
  const values = templateValues(definition, context);
  return documents.flatMap(({ file, held }) => {
    if (file.place === 'beside') return [];
    if (held.length === 0) return [emptyFinding(file)];
    return held
      .filter((one) => requestedSecret(one) === undefined)
      .flatMap(({ manifest, yaml }) =>
        lintManifests([manifest], rules, values).map((finding) => withLine(finding, yaml)),
      );
  });
}

/** One object of a file. */
interface LooseDocument {
  readonly manifest: LintManifest;
  readonly yaml: LocatedYaml | undefined;
  /** Whether it may be something that nobody applies. */
  readonly isLoose: boolean;
}

/** The line of the place in the object, or of as much of it as there is. */
function withLine(finding: FileFinding, yaml: LocatedYaml | undefined): FileFinding {
  if (finding.line !== undefined || yaml === undefined) return finding;
  return { ...finding, line: yaml.lineOf(finding.at ?? []) };
}

/** What would have these files, as far as they tell. */
function assumedDefinition(files: readonly LooseFile[]): CloudProviderDefinition {
  const fields = files.flatMap(({ text }) =>
    [...text.matchAll(IMAGE_FIELD)].map((match) => match.groups?.['field']),
  );
  const templated = [...new Set(fields)].flatMap((field = '') => [
    [field, { field, payloadTag: field.toLowerCase() }] as const,
  ]);
  const bound = BOUND.map((container) => [`of ${container}`, { container, payloadTag: container }] as const);
  return {
    id: 'specimen',
    match: { type: 'External' },
    images: Object.fromEntries([...templated, ...bound]),
    assets: { objects: [] },
  };
}

function documentsOf({ file, place, text }: LooseFile): readonly LooseDocument[] {
  const isLoose = place === 'any' || place === 'beside';
  const documents = isLoose ? splitDocuments(text) : [text];
  return documents.filter(holdsAnything).map((document) => {
    const yaml = located(document);
    const found = isRecord(yaml?.value) && yaml.value['kind'] === 'Pod' ? 'bootstrap' : 'assets';
    return { manifest: { file, place: isLoose ? found : place, text: document }, yaml, isLoose };
  });
}

/** Each with the lines before it empty, so that its lines are those of the file. */
function splitDocuments(text: string): readonly string[] {
  const documents: string[][] = [[]];
  text.split('\n').forEach((line, index) => {
    const isMark = MARK.test(line);
    if (isMark) documents.push(Array.from({ length: index }, () => ''));
    documents.at(-1)?.push(isMark ? line.replace(MARK, '   ') : line);
  });
  return documents.map((lines) => lines.join('\n'));
}

const MARK = /^(?:---|\.\.\.)(?=\s|$)/;

const holdsAnything = (text: string): boolean =>
  text.split('\n').some((line) => /^\s*[^\s#]/.test(line.replace(MARK, '')));

/** The Secret that a CredentialsRequest asks for; undefined for everything else. */
function requestedSecret({ isLoose, yaml }: LooseDocument): string | undefined {
  const request = isLoose && isRecord(yaml?.value) ? yaml.value : {};
  const spec = request['kind'] === 'CredentialsRequest' ? request['spec'] : undefined;
  const reference = isRecord(spec) ? spec['secretRef'] : undefined;
  const name = isRecord(reference) ? reference['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

const emptyFinding = ({ file }: LooseFile): FileFinding => ({
  file,
  rule: ASSET_RULES.fields.id,
  severity: ASSET_RULES.fields.severity,
  message: 'the file holds no object',
});
