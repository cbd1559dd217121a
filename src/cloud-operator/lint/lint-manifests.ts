import type { KubeObject } from '../../api/object.ts';
import { messageOf } from '../../base/errors.ts';
import { type ReadManifest, readManifest } from '../render/decode.ts';
import { type ManifestScope, OPERANDS, STATIC_PODS } from '../render/manifest-kinds.ts';
import type { ManifestProblem } from '../render/shape-reader.ts';
import { compileTemplate, type TemplateValues } from '../render/template.ts';
import { ASSET_RULES, reportedNotes, ruleOfNote, ruleOfProblem } from './asset-rules.ts';
import { BOOTSTRAP_RULES, ONLY_PODS } from './bootstrap-rules.ts';
import { CONTAINER_RULES } from './container-rules.ts';
import { MOUNT_RULES } from './mount-rules.ts';
import { OBJECT_RULES } from './object-rules.ts';
import { PLACEMENT_RULES } from './placement-rules.ts';
import { PROGRAM_RULES } from './program-rules.ts';
import type { LintContext, ManifestFinding, Problem, RuleText, WorkloadRule } from './rule.ts';
import { type Workload, workloadOf } from './workload.ts';

/** A manifest, or a template of one; what it holds decides what is asked of it. */
export interface LintManifest {
  readonly file: string;
  /** `assets`: what the operator applies; `bootstrap`: for the bootstrap machine. */
  readonly place: 'assets' | 'bootstrap';
  readonly text: string;
}

export interface FileFinding extends ManifestFinding {
  readonly file: string;
}

export const WORKLOAD_RULES: readonly WorkloadRule[] = [
  ...CONTAINER_RULES,
  ...PLACEMENT_RULES,
  ...PROGRAM_RULES,
  ...MOUNT_RULES,
  ...BOOTSTRAP_RULES,
].toSorted((a, b) => (a.id < b.id ? -1 : 1));

/** Everything that is wrong with manifests of a provider, file by file (section 19). Pure. */
export const lintManifests = (
  manifests: readonly LintManifest[],
  context: LintContext,
  values: TemplateValues,
): readonly FileFinding[] =>
  manifests.flatMap((manifest) =>
    lintManifest(manifest, context, values).map((one) => ({ ...one, file: manifest.file })),
  );

function lintManifest(
  manifest: LintManifest,
  context: LintContext,
  values: TemplateValues,
): readonly ManifestFinding[] {
  const { file, place, text } = manifest;
  try {
    const rendered = compileTemplate(text, file).render(values);
    return lintRead(readManifest(rendered, file, scopeOf(place)), manifest, context);
  } catch (error) {
    const said = messageOf(error);
    const [place = '', line] = /^.*?:(\d+): /.exec(said) ?? [];
    const finding = findingOf(ASSET_RULES.template, said.slice(place.length));
    return [line === undefined ? finding : { ...finding, line: Number(line) }];
  }
}

export const scopeOf = (place: LintManifest['place']): ManifestScope =>
  place === 'bootstrap' ? STATIC_PODS : OPERANDS;

/** What reading brought to light, and what the rules say about what was read. */
export function lintRead(
  { object, problems, notes }: ReadManifest,
  { file, place, text }: LintManifest,
  context: LintContext,
): readonly ManifestFinding[] {
  const name = object === undefined ? undefined : shownObject(object);
  const finding = (rule: RuleText, { path, message }: Pick<ManifestProblem, 'path' | 'message'>) => {
    const prefix = rule === ONLY_PODS ? file : name;
    const said = [prefix ?? '', path, message].filter((part) => part !== '').join(': ');
    // Lines of what was rendered are not those of a template.
    const line = text.includes('{{') ? undefined : saidLine(message);
    const at = path === '' ? {} : { at: partsOf(path) };
    return {
      ...findingOf(rule, said),
      ...(name !== undefined && { object: name }),
      ...at,
      ...(line !== undefined && { line }),
    };
  };
  return [
    ...problems.map((one) => finding(ruleOfProblem(one, place), one)),
    ...reportedNotes(notes).map((one) => finding(ruleOfNote(one), one)),
    ...(object === undefined ? [] : lintObject(object, context, text)),
  ];
}

const findingOf = ({ id, severity }: RuleText, message: string): ManifestFinding => ({
  rule: id,
  severity,
  message,
});

/** The line that a message of the reader begins with; it leaves out the first. */
function saidLine(message: string): number | undefined {
  const [, line] = /^(?:yaml: )?line (\d+): /.exec(message) ?? [];
  if (line !== undefined) return Number(line);
  return message.startsWith('yaml: ') ? 1 : undefined;
}

/** `metadata.labels[a.b/c]` part by part. */
const partsOf = (path: string): readonly string[] =>
  [...path.matchAll(/\[(?<item>[^\]]*)\]|[^.[\]]+/g)].map((match) => match.groups?.['item'] ?? match[0]);

/** What is wrong with one object, whose text may say more than it does itself. */
function lintObject(object: KubeObject, context: LintContext, source = ''): readonly ManifestFinding[] {
  const workload = workloadOf(object, source);
  const isStaticPod = workload?.target === 'bootstrap';
  return [
    ...(workload === undefined ? [] : WORKLOAD_RULES.flatMap((rule) => lintWorkload(rule, workload, context))),
    ...(isStaticPod ? [] : OBJECT_RULES).flatMap((rule) => asFindings(rule, object, rule.check(object, context))),
  ];
}

function lintWorkload(rule: WorkloadRule, workload: Workload, context: LintContext): readonly ManifestFinding[] {
  if (!rule.targets.includes(workload.target)) return [];
  const severity = workload.target === 'bootstrap' ? (rule.bootstrapSeverity ?? rule.severity) : rule.severity;
  return asFindings({ ...rule, severity }, workload.object, rule.check(workload, context));
}

/** `Deployment/name: text`, or `Deployment/name/container: text`. */
function asFindings(
  { id, severity }: RuleText,
  object: KubeObject,
  found: Problem | readonly Problem[] | undefined,
): readonly ManifestFinding[] {
  const name = shownObject(object);
  return [found ?? []].flat().map((problem) => ({
    rule: id,
    severity: problem.severity ?? severity,
    object: name,
    message: problem.text.startsWith('/') ? `${name}${problem.text}` : `${name}: ${problem.text}`,
    ...(problem.at !== undefined && { at: problem.at }),
  }));
}

export const shownObject = ({ kind, metadata: { name } }: KubeObject): string => `${kind}/${name}`;
