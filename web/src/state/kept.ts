/** The name under which this browser keeps something of a user of this installation. */
export const keptName = (what: string, user: number): string =>
  `zoneward.${what}:${new URL(document.baseURI).pathname}:${user}`;
