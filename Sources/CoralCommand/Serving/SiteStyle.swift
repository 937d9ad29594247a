import Coral
import CoralTools

/// The style sheet and the script of a store's pages: those of an exported page, with additions for these pages.
enum SiteStyle {
    static let sheet =
        PageStyle.sheet + """

            main { max-width: none; padding-bottom: 3rem; }
            main:focus { outline: none; }
            h2 { margin-top: 0; overflow-wrap: anywhere; }
            nav h1 a { color: inherit; }
            nav li span { white-space: nowrap; flex: none; }
            nav a[aria-current] { font-weight: bold; }
            .skip { position: absolute; left: -99rem; }
            .skip:focus { left: 1rem; top: 1rem; background: var(--card); padding: .5rem; z-index: 2; }
            :focus-visible, .picker:focus-within { outline: 2px solid var(--link); outline-offset: 1px; }
            .sum { color: var(--faint); }
            .wide { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
            table.objects { width: auto; min-width: 24rem; }
            table.objects th, table.objects td { width: auto; padding: .3rem .75rem; border-bottom: 1px solid var(--line);
              white-space: nowrap; }
            table.objects thead th { position: sticky; top: 0; background: var(--card); white-space: nowrap;
              vertical-align: bottom; }
            table.objects tbody tr:hover { background: var(--page); }
            table.names td:first-child { white-space: normal; }
            .number { text-align: right; font-variant-numeric: tabular-nums; }
            form.query { margin-bottom: 1rem; }
            form.query label { color: var(--faint); }
            .field { display: flex; gap: .5rem; position: relative; max-width: 52rem; }
            input[type=text], textarea { font: inherit; color: inherit; background: var(--card);
              border: 1px solid var(--line); border-radius: 8px; padding: .35rem .6rem; min-width: 0; }
            form.query input[type=text] { width: 100%; font-family: ui-monospace, monospace; }
            [aria-invalid] { border-color: #c4302b !important; }
            button { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line);
              border-radius: 8px; padding: .35rem .8rem; cursor: pointer; }
            button:disabled { color: var(--faint); cursor: default; }
            pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .3rem 0; font: .9em ui-monospace, monospace; }
            .error, .error a { color: #c4302b; }
            .error pre { white-space: pre; overflow-x: auto; }
            .error pre.wrapped { white-space: pre-wrap; }
            @media (prefers-color-scheme: dark) { .error, .error a { color: #ff8a80; } }
            .boxes { columns: 14rem; margin: .5rem 0; }
            .boxes label { display: block; color: inherit; }
            ul.words { position: absolute; top: 100%; left: 0; margin: .2rem 0; padding: .2rem; list-style: none;
              background: var(--card); border: 1px solid var(--line); border-radius: 8px; z-index: 1; min-width: 16rem;
              font-family: ui-monospace, monospace; }
            ul.words li { padding: .15rem .5rem; border-radius: 5px; cursor: pointer; }
            ul.words li[aria-selected=true] { background: var(--mark); }
            .bar { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; background: var(--card);
              border: 1px solid var(--line); border-radius: 10px; padding: .5rem .8rem; margin-bottom: 1rem; }
            .bar span { margin-right: auto; }
            form.object td > input[type=text], form.object dd > input[type=text] { width: 22rem; max-width: 100%; }
            form.object textarea { width: 30rem; max-width: 100%; display: block; }
            form.object input.picker { width: 2.6rem; }
            form.object td { padding: .25rem 0; }
            form.object tr.to td > input[type=text] { display: block; margin: .2rem 0; }
            .none { color: var(--faint); white-space: nowrap; }
            .actions { margin: .8rem 0 .2rem; }
            p.actions { position: sticky; bottom: 0; background: var(--card); padding: .6rem 0; margin: 0; }
            html:has(form.object) { scroll-padding-bottom: 5rem; }
            details.filter { margin-top: .6rem; }
            .filter .field { flex-wrap: wrap; margin-top: .4rem; }
            .filter .field input[type=text] { width: 14rem; flex: 1; }
            input[type=datetime-local], input[type=search], select { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line);
              border-radius: 8px; padding: .35rem .6rem; }
            dl.elements { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .8rem; margin: 0; }
            dl.elements dt { color: var(--faint); }
            dl.elements dd { margin: 0; }
            .mistake { color: #c4302b; align-self: center; }
            nav input[type=search] { width: 100%; box-sizing: border-box; font: inherit; color: inherit; background: var(--card);
              border: 1px solid var(--line); border-radius: 8px; padding: .35rem .6rem; margin: .3rem 0; }
            .hit mark { background: var(--mark); color: inherit; border-radius: 3px; }
            .working { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: .8rem 1rem; }
            .working:has(+ .done) { display: none; }
            .seconds i { font-style: normal; color: var(--faint); }
            .seconds i:not(:last-child) { display: none; }
            .diagram { overflow: auto; border: 1px solid var(--line); border-radius: 10px; background: #fff; }
            .model img { display: block; max-width: 100%; max-height: 24rem; border: 1px solid var(--line); border-radius: 10px; }
            .activity { margin: 0 0 1.2rem; }
            .activity svg { display: block; width: 100%; height: 6rem; border-bottom: 1px solid var(--line); }
            .activity rect { fill: var(--link); }
            .activity figcaption { color: var(--faint); }
            .recent { list-style: none; display: flex; flex-wrap: wrap; gap: .1rem .9rem; margin: 0 0 1rem; padding: 0; }
            .recent li { overflow-wrap: anywhere; min-width: 0; }
            .tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(16rem, 1fr)); gap: .9rem; margin-bottom: 1.2rem; }
            .tiles article { margin: 0; }
            .tiles ul { list-style: none; margin: 0; padding: 0; }
            .tiles li { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
            @media (max-width: 45rem) {
              nav ul { max-height: 9rem; overflow-y: auto; border: 1px solid var(--line); border-radius: 8px; padding: .2rem .6rem; }
              tr, th, td { max-width: 100%; }
              article > table, form.object > table, article > table > tbody, form.object > table > tbody,
                article > table tr, form.object > table tr, article > table tr > th, form.object > table tr > th,
                article > table tr > td, form.object > table tr > td { display: block; width: auto; }
              table.objects { min-width: 100%; }
              .bar span { flex-basis: 100%; }
            }
            ol.timeline { list-style: none; padding: 0; }
            .timeline ul { list-style: none; margin: 0; padding: 0; }
            .timeline li li { overflow-wrap: anywhere; }
            """

    /// Completes the word before the cursor, writes files as Base64 into the fields of binary values, and follows the links to
    /// other pages with the keys n, p and f, and enlarges the picture of the model; the key / selects the field of the predicate.
    static let script = """
        'use strict';
        for (const field of document.querySelectorAll('[data-words]')) {
          const words = field.dataset.words.split(' '), list = document.createElement('ul');
          let chosen = -1, found = [];
          list.className = 'words'; list.id = field.id + '-words'; list.hidden = true; list.setAttribute('role', 'listbox');
          field.setAttribute('role', 'combobox'); field.setAttribute('aria-autocomplete', 'list');
          field.setAttribute('aria-controls', list.id); field.setAttribute('aria-expanded', 'false');
          field.after(list);
          const start = () => field.value.slice(0, field.selectionStart).match(/[\\w.@]*$/)[0];
          const show = () => {
            list.hidden = !found.length; field.setAttribute('aria-expanded', String(!list.hidden));
            list.replaceChildren(...found.map((word, index) => {
              const item = document.createElement('li');
              item.textContent = word; item.id = list.id + index; item.setAttribute('role', 'option');
              item.setAttribute('aria-selected', String(index === chosen));
              item.addEventListener('mousedown', event => { event.preventDefault(); take(word); });
              return item; }));
            if (chosen < 0) field.removeAttribute('aria-activedescendant');
            else field.setAttribute('aria-activedescendant', list.id + chosen);
          };
          const take = word => {
            const end = field.selectionStart, begin = end - start().length;
            field.setRangeText(word, begin, end, 'end'); found = []; chosen = -1; show();
          };
          field.addEventListener('input', () => {
            const text = start().toLowerCase();
            found = text ? words.filter(w => w.toLowerCase().startsWith(text) && w !== text).slice(0, 8) : [];
            chosen = -1; show();
          });
          field.addEventListener('blur', () => { found = []; show(); });
          field.addEventListener('keydown', event => {
            if (!found.length) return;
            if (event.key === 'ArrowDown') chosen = (chosen + 1) % found.length;
            else if (event.key === 'ArrowUp') chosen = (chosen + found.length + 1) % (found.length + 1) - 1;
            else if (event.key === 'Tab') return event.preventDefault(), take(found[Math.max(chosen, 0)]);
            else if (event.key === 'Enter' && chosen >= 0) return event.preventDefault(), take(found[chosen]);
            else if (event.key === 'Escape') found = [];
            else return;
            event.preventDefault(); show();
          });
        }
        for (const box of document.querySelectorAll('[data-none]'))
          document.getElementById(box.dataset.none)?.addEventListener('input', () => { box.checked = false; });
        for (const picker of document.querySelectorAll('input.picker'))
          picker.addEventListener('change', () => {
            const field = document.getElementById(picker.dataset.for);
            if (picker.value) field.value = (picker.value + ':00').slice(0, 19) + picker.dataset.offset;
          });
        for (const button of document.querySelectorAll('[data-zoom]'))
          button.addEventListener('click', () => {
            const picture = document.querySelector('.diagram svg'), factor = Number(button.dataset.zoom);
            const width = factor ? picture.getBoundingClientRect().width * factor : picture.closest('.diagram').clientWidth;
            picture.style.width = width + 'px'; picture.style.height = 'auto'; picture.style.maxWidth = 'none';
          });
        for (const input of document.querySelectorAll('input[data-limit]')) {
          const field = document.getElementById(input.dataset.for);
          const mistake = input.parentElement.querySelector('.mistake');
          input.addEventListener('change', () => {
            const file = input.files[0], reader = new FileReader();
            mistake.textContent = '';
            if (!file) return;
            if (file.size > Number(input.dataset.limit)) {
              mistake.textContent = 'The file is larger than ' + input.dataset.limit / 1000000 + ' MB.';
              input.value = ''; return; }
            reader.onload = () => { field.value = reader.result.slice(reader.result.indexOf(',') + 1); };
            reader.onerror = () => { mistake.textContent = 'The file cannot be read.'; };
            reader.readAsDataURL(file);
          });
        }
        addEventListener('keydown', event => {
          if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches('input, textarea, select')) return;
          const field = document.getElementById('where') ?? document.getElementById('find');
          if (event.key === '/' && field) { event.preventDefault(); return field.select(); }
          document.querySelector('[data-key="' + CSS.escape(event.key) + '"]')?.click();
        });
        """
}
