import { repairStore } from '../../apiserver/store/repair.ts';
import { usageError } from '../failures.ts';
import { releaseVersion } from '../release.ts';
import type { ExitCode, VerbContext } from '../verb.ts';
import { refusingDamage } from './store-refusal.ts';

/** `slipway apiserver repair`: cuts a damaged store; what was there is kept beside it. */
export async function repair(
  { output, clock }: VerbContext,
  directory: string | undefined,
  toRevision: number | undefined,
): Promise<ExitCode> {
  if (directory === undefined) throw usageError('repair needs --data FOLDER');
  if (toRevision === undefined)
    throw usageError(
      'repair needs --to-revision N: `slipway apiserver --data FOLDER` names it when the store is damaged',
    );
  const { copy, objects, lostRecords, revision } = await refusingDamage(() =>
    Promise.resolve(repairStore(directory, { toRevision, clock, release: releaseVersion() })),
  );
  const lost = lostRecords === 0 ? '' : `, ${lostRecords} damaged records were left out`;
  output.result(`kept ${objects} objects up to revision ${toRevision}${lost}; the damaged files are in ${copy}`, {
    directory,
    objects,
    lostRecords,
    revision,
    copy,
  });
  return 0;
}
