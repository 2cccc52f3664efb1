import { useEffect, useState } from "react";

export type Theme = "system" | "light" | "dark";

const KEY = "turnwire.theme";
const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };

export function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(() => {
    const kept = localStorage.getItem(KEY);
    return kept === "light" || kept === "dark" ? kept : "system";
  });
  useEffect(() => {
    if (theme === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
    localStorage.setItem(KEY, theme);
  }, [theme]);
  return [theme, () => setTheme(NEXT[theme])];
}
