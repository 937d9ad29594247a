import Foundation
import KeyedArchives
import XMLReading

/// An element of the XML of a source model or mapping model, with its line.
final class SourceElement {
    let name: String
    let attributes: [String: String]
    /// The names of the attributes that nobody has asked for.
    private(set) var unreadNames: Set<String>
    let line: Int
    var children: [SourceElement] = []
    /// The text between the tags.
    fileprivate(set) var text = ""

    init(name: String, attributes: [String: String], line: Int) {
        self.name = name
        self.attributes = attributes
        self.line = line
        unreadNames = Set(attributes.keys)
    }

    /// The value of an attribute; nil if the element does not have it.
    subscript(name: String) -> String? {
        unreadNames.remove(name)
        return attributes[name]
    }

    /// The children of a name, in order.
    func children(named name: String) -> [SourceElement] {
        children.filter { $0.name == name }
    }
}

/// Reads XML as a tree of elements.
enum SourceElementReader {
    /// The maximum depth. Source models nest five levels deep, property lists in mapping models eight.
    private static let depthLimit = 32

    /// Reads the root element. Throws ``ModelError`` with the line when the XML is malformed.
    static func read(_ data: Data, file: String?) throws -> SourceElement {
        let reader = XMLReader(data, documentTypes: .withoutDeclarations)
        var root: SourceElement?
        var open: [SourceElement] = []
        do {
            while true {
                switch try reader.next() {
                case .start:
                    guard open.count < depthLimit else {
                        throw ModelError(
                            .malformedFile, "The elements are nested too deeply for a model.", file: file,
                            line: reader.place.line)
                    }
                    let element = SourceElement(
                        name: reader.name, attributes: reader.attributes.dictionary, line: reader.place.line)
                    open.last?.children.append(element)
                    open.append(element)
                    if root == nil { root = element }
                case .end: open.removeLast()
                case .text: open.last?.text += reader.text
                case .endOfDocument:
                    guard let root else { throw ModelError(.malformedFile, "The XML is empty.", file: file) }
                    return root
                }
            }
        } catch let error as XMLError {
            throw ModelError(
                .malformedFile, "The XML is malformed: \(error.message)", file: file, line: error.place?.line)
        }
    }
}
