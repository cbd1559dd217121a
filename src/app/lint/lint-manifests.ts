import { readFile } from 'node:fs/promises';
import { messageOf } from '../../base/errors.ts';
import { type FileFinding, type LooseFile, lintFiles, MANIFEST_RULES } from '../../cloud-operator/index.ts';
import { CommandError, usageError } from '../failures.ts';
import { printable, shownPath } from '../journey/plain-text.ts';
import { isWritten } from '../render/header.ts';
import { type Finding, type LintReport, sorted } from './finding.ts';
import type { LintOptions } from './lint-path.ts';
import type { ManifestPlace } from './manifest-places.ts';

/** What Node says about files, in words. */
const REASONS: Readonly<Record<string, string>> = { ENOENT: 'there is no such file', EISDIR: 'it is a folder' };
/** What `render` of this name installs. */
const INSTALLATIONS = [
  ['cloud-operator', 'the cloud operator'],
  ['deploy', 'a provider without an operator'],
] as const;
const RULES_BY_ID = new Map(MANIFEST_RULES.map((rule) => [rule.id, rule]));

/**
 * Everything that is wrong, or could be better, in manifests of a cloud.
 *
 * @throws CommandError when one of the files cannot be read.
 */
export async function lintManifestFiles(
  folder: string,
  places: readonly ManifestPlace[],
  options: LintOptions,
): Promise<LintReport> {
  const files = await Promise.all(places.map((place) => looseFile(folder, place)));
  refuseInstallation(files);
  const sources = new Map(files.map(({ file, text }) => [file, text]));
  const found = lintFiles(files, options).map((finding) => asFinding(finding, sources.get(finding.file) ?? ''));
  const codes = new Set(found.map(({ code }) => code));
  return {
    findings: sorted(found),
    files: files.length,
    sources,
    rules: new Map([...RULES_BY_ID].filter(([id]) => codes.has(id))),
  };
}

/** What `slipway render` wrote to install something: the rules are about what such an operator deploys. */
function refuseInstallation(files: readonly LooseFile[]): void {
  for (const [what, installed] of INSTALLATIONS) {
    const found = files.find(({ place, text }) => place !== 'beside' && isWritten(text, what));
    if (found === undefined) continue;
    throw usageError(
      `${printable(found.file)} is what installs ${installed}, written by slipway render ${what}: there are no rules for it. Check the definition of the provider instead, or manifests that an operator applies`,
    );
  }
}

async function looseFile(folder: string, { file, place }: ManifestPlace): Promise<LooseFile> {
  const shown = shownPath(folder, file);
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const why = REASONS[code] ?? messageOf(error);
    throw new CommandError('SW2105', 2, `the manifest ${printable(shown)} cannot be read: ${why}`, error);
  });
  return { file: shown, place, text };
}

function asFinding({ rule, severity, file, message, line }: FileFinding, source: string): Finding {
  const { why = '', fix = '' } = RULES_BY_ID.get(rule) ?? {};
  return { file, ...(line !== undefined && firstWord(source, line)), severity, code: rule, message, why, fix };
}

/** The key, or whatever else the line begins with behind the dashes of lists. */
function firstWord(source: string, line: number): Pick<Finding, 'line' | 'column' | 'length'> {
  const text = source.split('\n')[line - 1] ?? '';
  const [indent = ''] = /^\s*(?:- +)*/.exec(text) ?? [];
  const [word = ''] = /^(?:"[^"]*"|[^\s:]+)/.exec(text.slice(indent.length)) ?? [];
  return { line, column: indent.length + 1, length: Math.max(1, word.length) };
}
