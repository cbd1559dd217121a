import { isRecord } from '../../object/record.ts';

/** What happened before Slipway ran: which Node the host has, and what had to be installed (experience 4.1). */
export interface Bootstrap {
  /** We run from a clone, where npm scripts exist; an installed package has no bootstrap. */
  readonly isClone: boolean;
  readonly node: { readonly found: string; readonly using: string };
  readonly installed?: { readonly packages: number; readonly ms: number };
}

/** Reads the variable SLIPWAY_BOOTSTRAP. Only facts for the header: anything unreadable in it is simply not shown. */
export function parseBootstrap(text: string | undefined, using: string): Bootstrap {
  const report = parseRecord(text ?? '');
  const found = report?.['hostNode'];
  const installed = installedOf(report?.['installed']);
  return {
    isClone: report !== undefined,
    node: { found: typeof found === 'string' ? found : using, using },
    ...(installed !== undefined && { installed }),
  };
}

function installedOf(value: unknown): Bootstrap['installed'] {
  if (!isRecord(value)) return undefined;
  const { packages, ms } = value;
  return typeof packages === 'number' && typeof ms === 'number' ? { packages, ms } : undefined;
}

function parseRecord(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
