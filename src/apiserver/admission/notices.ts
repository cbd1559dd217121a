import type { AdmissionPlugin } from './chain.ts';

/** A warning to whoever creates an object, by `group/plural` of its kind. */
export type Notices = Readonly<Record<string, string>>;

/** Tells what somebody who creates an object could not see from it. */
export const createNotices = (notices: Notices): AdmissionPlugin => ({
  validate: ({ operation, subresource, resource: { group, plural }, warnings }) => {
    const name = `${group}/${plural}`;
    const isNew = operation === 'CREATE' && subresource === '';
    if (isNew && Object.hasOwn(notices, name)) warnings.add(notices[name] ?? '');
    return undefined;
  },
});
