import type { ManifestNote, ManifestProblem } from '../render/shape-reader.ts';
import { ONLY_PODS } from './bootstrap-rules.ts';
import type { RuleText } from './rule.ts';

/** About files (T01–T06): found while they are read. */
export const ASSET_RULES = {
  template: {
    id: 'CCM-T01',
    severity: 'error',
    title: 'whole templates, with values that they can name',
    why: 'the operator renders templates in the cluster: what it cannot render is missing there, not here',
    fix: 'end what is begun; use values that every template has, or add them to values of the definition',
  },
  fields: {
    id: 'CCM-T02',
    severity: 'error',
    title: 'YAML of one object, with fields as the API spells them, each once and of its type',
    why: 'what is no object cannot be applied, and a field that the API does not know would be dropped',
    fix: 'write YAML with one object in it, and its fields as kubectl explain shows them',
  },
  kinds: {
    id: 'CCM-T03',
    severity: 'error',
    title: 'kinds that the operator applies',
    why: 'the operator has permissions, comparison and order only for kinds that it knows',
    fix: 'use one of the kinds that are named, or install the object with the operator itself',
  },
  texts: {
    id: 'CCM-T04',
    severity: 'error',
    title: 'texts where texts belong',
    why: 'YAML makes booleans, numbers and nulls of words without quotes; the API wants text',
    fix: 'quote the value, or leave the field out',
  },
  versions: {
    id: 'CCM-T05',
    severity: 'warning',
    title: 'the apiVersion that is served',
    why: 'old versions go away with an upgrade of the cluster',
    fix: 'write the apiVersion that is named',
  },
  files: {
    id: 'CCM-T06',
    severity: 'error',
    title: 'no manifest that is not listed, and the same objects at every call',
    why: 'what is applied, and in which order, must not depend on what lies in a folder',
    fix: 'add the file to the list of the definition, or remove it',
  },
} as const satisfies Readonly<Record<string, RuleText>>;

/** Which rule a problem of reading breaks. */
export const ruleOfProblem = ({ problem }: ManifestProblem, place: 'assets' | 'bootstrap'): RuleText => {
  if (problem === 'unsupported-kind') return place === 'bootstrap' ? ONLY_PODS : ASSET_RULES.kinds;
  return ASSET_RULES.fields;
};

const RULES_OF_NOTES: Readonly<Record<ManifestNote['coercion'], RuleText>> = {
  case: ASSET_RULES.fields,
  null: ASSET_RULES.texts,
  text: ASSET_RULES.texts,
  apiVersion: ASSET_RULES.versions,
};

export const ruleOfNote = ({ coercion }: ManifestNote): RuleText => RULES_OF_NOTES[coercion];

/**
 * Notes that are findings of their own. A field in another case that is null besides is one mistake, and a creationTimestamp
 * that is null is in everything that kubectl prints.
 */
export const reportedNotes = (notes: readonly ManifestNote[]): readonly ManifestNote[] =>
  notes.filter(({ coercion, path }) => {
    const isCase = (other: ManifestNote) =>
      other.coercion === 'case' && other.path.toLowerCase() === path.toLowerCase();
    return coercion !== 'null' || !(path.endsWith('creationTimestamp') || notes.some(isCase));
  });
