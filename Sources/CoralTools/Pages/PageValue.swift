import Coral
import Foundation
import GraphDocuments

/// Formats values for a page.
package struct PageValue {
    private let page: StorePage

    package init(_ page: StorePage) { self.page = page }

    /// HTML of a value that is not null.
    package func html(_ value: GraphValue) -> HTML {
        switch value {
        case .string(let text): multiline(text)
        case .uri(let text): link(text)
        case .bool(let value): value ? "yes" : "no"
        case .date(let seconds): date(seconds)
        case .data(let data): binary(data)
        case .transformable(let value): transformable(value)
        case .composite(let elements): list(elements.map { ($0.name, cell($0.value)) })
        default: "\(TextValue.text(of: value) ?? ValueText.text(value))"
        }
    }

    private func cell(_ value: GraphValue) -> HTML { value.isNull ? "—" : html(value) }

    private func list(_ members: [(name: String, value: HTML)]) -> HTML {
        let items = members.map { name, value -> HTML in "<dt>\(name)</dt><dd>\(value)</dd>" }
        return "<dl>\(items)</dl>"
    }

    private func multiline(_ text: String) -> HTML {
        guard text.count > page.textLimit else { return "<span class=\"text\">\(text)</span>" }
        let rest = text.count - page.textLimit
        let start = String(text.prefix(page.textLimit))
        return "<span class=\"text\">\(start)</span><span class=\"more\">… and \(rest) more characters</span>"
    }

    /// A link to a web address. Other schemes are not linked, so that a page cannot execute anything.
    private func link(_ text: String) -> HTML {
        guard text.hasPrefix("https://") || text.hasPrefix("http://") else { return "\(text)" }
        return "<a class=\"web\" rel=\"noreferrer\" href=\"\(text)\">\(text)</a>"
    }

    private func date(_ seconds: Double) -> HTML {
        let text = TextValue.text(of: .date(seconds)) ?? ""
        return
            "<time>\(text.replacingOccurrences(of: "T", with: " ").replacingOccurrences(of: ".000Z", with: "Z"))</time>"
    }

    private func binary(_ data: Data) -> HTML {
        let size = data.count == 1 ? "1 byte" : "\(data.count) bytes"
        guard data.count <= page.pictureLimit else { return "\(size)" }
        return readable(ReadableBytes(data), data, size)
    }

    private func readable(_ content: ReadableBytes, _ data: Data, _ size: String) -> HTML {
        switch content {
        case .text(let text): multiline(text)
        case .tree(let tree), .fields(let tree): self.tree(tree)
        case .picture(let type): "<img alt=\"\(size)\" src=\"data:\(type);base64,\(data.base64EncodedString())\">"
        case .uuid(let uuid): "\(uuid.uuidString)"
        // The picture in compressed bytes is not inflated again.
        case .compressed(let name, .picture(let type), _): "\(size), \(name), \(type)"
        case .compressed(let name, let content, _):
            "<span class=\"more\">\(name)</span> \(readable(content, data, size))"
        case .hexadecimal(let digits): "\(size) <code>\(digits)</code>"
        }
    }

    /// The image type by the first bytes. SVG is excluded, because it may contain scripts.
    package static func pictureType(_ data: Data) -> String? {
        if data.starts(with: [0x89, 0x50, 0x4E, 0x47]) { return "image/png" }
        if data.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        return data.starts(with: Array("GIF8".utf8)) ? "image/gif" : nil
    }

    private func transformable(_ value: TransformableValue) -> HTML {
        let readable = value.readable ?? value.archive.flatMap(TransformableReader.readable)
        guard let readable else { return "an archive of \(value.archive?.count ?? 0) bytes" }
        return tree(readable)
    }

    /// Recursive; the archive's reader limits the depth.
    private func tree(_ value: ReadableValue) -> HTML {
        switch value {
        case .value(let value): cell(value)
        case .array(let values): "<ol>\(values.map { value -> HTML in "<li>\(tree(value))</li>" })</ol>"
        case .dictionary(let members): list(members.map { ($0.name, tree($0.value)) })
        }
    }
}
