/** Hands a text to the reader as a file. */
export function save(name: string, type: string, text: string): void {
  saveUrl(name, URL.createObjectURL(new Blob([text], { type })));
}

/** Hands what an object URL stands for to the reader as a file; the URL ends with that. */
export function saveUrl(name: string, url: string): void {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

/** Rows as comma-separated values; what a spreadsheet would take for a formula stays text. */
export function csv(rows: readonly (readonly (string | number | null)[])[]): string {
  const cell = (value: string | number | null): string => {
    if (value === null) return "";
    if (typeof value === "number") return String(value);
    const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}
