/**
 * The quick tests that may use more processor time than the budget: one whole path for each generated script and for each
 * flow of pages. By file, the name of the test.
 * @type {Readonly<Record<string, string>>}
 */
export const wholePaths = {};
