/// The style sheet of a page, for light and dark appearance, and its script.
package enum PageStyle {
    package static let sheet = """
        :root { color-scheme: light dark; --ink: #1d1d1f; --faint: #6e6e73; --line: #d9d9de; --card: #fff; --page: #f5f5f7;
          --link: #0b62c4; --mark: #fff4c2; }
        @media (prefers-color-scheme: dark) { :root { --ink: #f0f0f2; --faint: #9a9aa0; --line: #3a3a3e; --card: #232326;
          --page: #161618; --link: #6db3ff; --mark: #4a4318; } }
        * { box-sizing: border-box; }
        html { scroll-behavior: smooth; scroll-padding-top: 1rem; }
        body { margin: 0; display: grid; grid-template-columns: 15rem minmax(0, 1fr); background: var(--page);
          color: var(--ink); font: 15px/1.45 system-ui, -apple-system, "Segoe UI", sans-serif; }
        nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1.25rem;
          border-right: 1px solid var(--line); }
        nav h1 { font-size: 1.1rem; margin: 0; overflow-wrap: anywhere; }
        nav .sum { color: var(--faint); margin: .1rem 0 1rem; }
        nav ul { list-style: none; margin: 0; padding: 0; }
        nav li { display: flex; justify-content: space-between; gap: .5rem; padding: .15rem 0; overflow-wrap: anywhere; }
        nav li span { color: var(--faint); font-variant-numeric: tabular-nums; }
        nav input { width: 100%; margin-bottom: 1rem; padding: .35rem .6rem; font: inherit; color: inherit;
          background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
        main { padding: 1.5rem 2rem 60vh; max-width: 62rem; }
        h2 { font-size: 1.35rem; margin: 2rem 0 .75rem; }
        section:first-child h2 { margin-top: 0; }
        article { background: var(--card); border: 1px solid var(--line); border-radius: 10px; margin: 0 0 .9rem;
          padding: .8rem 1rem; }
        article:target { background: var(--mark); border-color: currentColor; }
        h3 { font-size: 1rem; margin: 0 0 .4rem; overflow-wrap: anywhere; }
        h3 span { color: var(--faint); font-weight: normal; font-size: .85rem; margin-left: .4rem; }
        table { border-collapse: collapse; width: 100%; }
        th { text-align: left; font-weight: normal; color: var(--faint); width: 15rem; padding: .15rem 1rem .15rem 0;
          overflow-wrap: anywhere; }
        th, td { vertical-align: top; }
        td { padding: .15rem 0; overflow-wrap: anywhere; }
        tr.nil { color: var(--faint); }
        a { color: var(--link); text-decoration: none; }
        a:hover { text-decoration: underline; }
        tr.to td a { display: inline-block; margin: 0 .9rem .1rem 0; }
        .out, .more { color: var(--faint); }
        .text { white-space: pre-wrap; }
        time { font-variant-numeric: tabular-nums; }
        img { max-width: 100%; max-height: 16rem; border-radius: 6px; }
        dl, ol { margin: 0; }
        ol { padding-left: 1.5rem; }
        dt { color: var(--faint); }
        dd { margin: 0 0 .2rem 1rem; }
        details summary { cursor: pointer; }
        @media (max-width: 45rem) { body { display: block; } nav { position: static; height: auto; border-right: 0;
          border-bottom: 1px solid var(--line); } main { padding: 1rem; } th { width: 8rem; } }
        @media print { nav { display: none; } body { display: block; } article { break-inside: avoid; } }
        """

    /// The search field: articles that do not contain the words are hidden. A link to a hidden article clears the
    /// search.
    static let script = """
        const field = document.querySelector('input'), all = [...document.querySelectorAll('article')];
        const show = () => { const words = field.value.toLowerCase().split(/\\s+/).filter(Boolean);
          for (const a of all) { const t = a.textContent.toLowerCase(); a.hidden = !words.every(w => t.includes(w)); }
          for (const s of document.querySelectorAll('section')) s.hidden = !s.querySelector('article:not([hidden])'); };
        field.hidden = false; field.addEventListener('input', show);
        addEventListener('hashchange', () => { const t = document.getElementById(decodeURIComponent(location.hash.slice(1)));
          if (t && (t.hidden || t.closest('[hidden]'))) { field.value = ''; show(); t.scrollIntoView(); } });
        """
}
