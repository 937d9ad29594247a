import Coral
import CoralTools

/// The page of an object: its values, and links to the objects that it refers to and that refer to it. In a writable store it is one
/// form.
struct ObjectPage {
    private let pages: SitePages
    private let object: NSManagedObject
    private let mistakes: FormMistakes
    private let entered: [String: String]
    /// The number of members of a relationship that are shown.
    private static let memberLimit = 100

    /// - Parameters:
    ///   - mistakes: Why the form was not accepted.
    ///   - entered: What was entered in it.
    init(
        _ pages: SitePages, _ object: NSManagedObject, mistakes: FormMistakes = FormMistakes(),
        entered: [String: String] = [:]
    ) {
        self.pages = pages
        self.object = object
        self.mistakes = mistakes
        self.entered = entered
    }

    private var name: String { StoredName(object.objectID).text }
    private var isWritable: Bool { pages.store.isWritable }

    func html() throws -> HTML {
        let attributes = object.entity.attributesByName.sorted { $0.key < $1.key }.map(row)
        let relationships = try object.entity.relationshipsByName.sorted { $0.key < $1.key }.map(row)
        let uri = object.objectID.uriRepresentation().absoluteString
        let table: HTML = "<table>\n\(attributes)\(relationships)\(try incoming())</table>"
        let card: HTML =
            "<article><h3>\(name) <span>\(uri)</span></h3>\n\(isWritable ? form(around: table) : table)</article>\n"
        let entity = object.entity.name ?? ""
        let main: HTML = "\(banner)<p class=\"sum\">\(PageFrame.link(to: entity))</p>\n\(card)"
        return pages.frame.page(title: ObjectLabel.text(of: object) ?? name, main: main, entity: entity)
    }

    /// The form of all values, and the one that deletes the object. The first button is the one of the key Enter.
    private func form(around table: HTML) -> HTML {
        let fields: HTML = "\(PageFrame.hidden("id", name))\(PageFrame.hidden("return", pages.frame.returnAddress))"
        return """
            <form class="object" method="post" action="set">\(fields)
            \(table)
            <p class="actions"><button>Apply</button> <button name="save" value="1">Apply and save</button></p></form>
            <form class="actions" method="post" action="delete">\(PageFrame.hidden("id", name))<button>Delete this object</button></form>

            """
    }

    /// The mistakes at the top of the page, each with a link to its field.
    private var banner: HTML {
        guard !mistakes.isEmpty else { return "" }
        let fields = mistakes.sentences.sorted { $0.key < $1.key }.map { property, sentence -> HTML in
            "<p><a href=\"#\(ValueEditor.anchor(of: property))\">\(property)</a></p><pre class=\"wrapped\">\(sentence)</pre>"
        }
        let others = mistakes.others.map { sentence -> HTML in "<pre class=\"wrapped\">\(sentence)</pre>" }
        return "<div class=\"error\" role=\"alert\"><p>Nothing was changed.</p>\(fields)\(others)</div>\n"
    }

    private func error(of property: String) -> HTML {
        guard let sentence = mistakes.sentences[property] else { return "" }
        // The banner is announced.
        return
            "<div class=\"error\" id=\"\(ValueEditor.mistakeAnchor(of: property))\"><pre class=\"wrapped\">\(sentence)</pre></div>"
    }

    private func editor(_ key: String) -> ValueEditor {
        ValueEditor(key: key, entered: entered[key], isMistaken: mistakes.sentences[key] != nil)
    }

    // MARK: - Attributes

    private func row(_ name: String, _ attribute: NSAttributeDescription) -> HTML {
        let schema = GraphSchema.Attribute(attribute)
        let value = GraphValue(object.value(forKey: name), declaredAs: schema)
        let isStored = !attribute.isTransient && !(attribute is NSDerivedAttributeDescription)
        var cell: HTML = value.isNull ? "<span class=\"more\">no value</span>" : html(of: value, name)
        if isWritable, isStored {
            switch schema.type {
            case .transformable, .undefined: break
            case .binaryData: cell += editor(name).html(of: value, schema.type, in: pages.store.zone)
            case .composite: cell = elements(of: schema, value) ?? cell
            default: cell = editor(name).html(of: value, schema.type, in: pages.store.zone)
            }
        }
        return
            "<tr\(" class=\"nil\"", if: value.isNull)>\(header(name))<td>\(cell)\(error(of: name))</td></tr>\n"
    }

    private func header(_ name: String) -> HTML { "<th scope=\"row\">\(breakable: name)</th>" }

    /// A field for each element of a composite value; nil if an element is composite itself.
    private func elements(of schema: GraphSchema.Attribute, _ value: GraphValue) -> HTML? {
        guard !schema.elements.contains(where: { [.composite, .transformable, .undefined].contains($0.type) }) else {
            return nil
        }
        let members: [GraphAttribute] = if case .composite(let members) = value { members } else { [] }
        let rows = schema.elements.map { element -> HTML in
            let key = "\(schema.name).\(element.name)"
            let member = members.first { $0.name == element.name }?.value ?? .null
            let field = editor(key).html(of: member, element.type, in: pages.store.zone)
            return "<dt>\(breakable: element.name)</dt><dd>\(field)\(error(of: key))</dd>"
        }
        return "<dl class=\"elements\">\(rows)</dl>"
    }

    private func html(of value: GraphValue, _ name: String) -> HTML {
        let html = PageValue(StorePage()).html(value)
        switch value {
        case .data, .transformable:
            let address = FormFields.address("value", [("id", self.name), ("property", name)])
            return "\(html) <a class=\"file\" href=\"\(address)\">open</a>"
        case .date(let seconds):
            return pages.store.zone == nil
                ? html : "<time>\(DateCell.text(of: seconds, in: pages.store.zone))</time>"
        default: return html
        }
    }

    // MARK: - Relationships

    private func row(_ name: String, _ relationship: NSRelationshipDescription) throws -> HTML {
        let value = object.value(forKey: name)
        let members: [NSManagedObject] =
            if let ordered = value as? NSOrderedSet {
                ordered.array.compactMap { $0 as? NSManagedObject }
            } else if let set = value as? NSSet {
                StoredName.sorted(set.allObjects.compactMap { $0 as? NSManagedObject })
            } else {
                (value as? NSManagedObject).map { [$0] } ?? []
            }
        var links = members.prefix(Self.memberLimit).map { PageFrame.link(to: $0) }.joined(by: " ")
        links += more(than: min(members.count, Self.memberLimit), of: members.count)
        if members.isEmpty { links = "<span class=\"more\">none</span>" }
        if members.count > 12 { links = "<details><summary>\(members.count) objects</summary>\(links)</details>" }
        if isWritable, !relationship.isTransient, members.count <= Self.memberLimit {
            let names = members.map { StoredName($0.objectID).text }.joined(separator: ", ")
            links += editor(name).html(names, relationship, candidates: try candidates(relationship))
        }
        return "<tr class=\"to\">\(header(name))<td>\(links)\(error(of: name))</td></tr>\n"
    }

    /// How many objects there are, if not all are shown.
    private func more(than shown: Int, of count: Int) -> HTML {
        count > shown ? " <span class=\"more\">… of \(Quantity.grouped(count))</span>" : ""
    }

    /// The first objects that a relationship can refer to, which its field suggests.
    private func candidates(_ relationship: NSRelationshipDescription) throws -> [ValueEditor.Candidate] {
        guard let destination = relationship.destinationEntity?.name else { return [] }
        let request = NSFetchRequest<NSManagedObject>(entityName: destination)
        request.sortDescriptors = [NSSortDescriptor(key: "objectID", ascending: true)]
        request.fetchLimit = Self.memberLimit
        return try pages.access.context.fetch(request).map {
            ValueEditor.Candidate(name: StoredName($0.objectID).text, title: ObjectLabel.text(of: $0))
        }
    }

    /// The objects that refer to this one by a relationship without an inverse.
    private func incoming() throws -> HTML {
        var rows: HTML = ""
        for entity in pages.model.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
            for (name, relationship) in entity.relationshipsByName.sorted(by: { $0.key < $1.key })
            where relationship.inverseRelationship == nil && entity.superentity?.relationshipsByName[name] == nil {
                guard let destination = relationship.destinationEntity, object.entity.isKindOf(entity: destination),
                    !relationship.isTransient
                else { continue }
                let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
                request.predicate = NSComparisonPredicate(
                    name, .equalTo, object, modifier: relationship.isToMany ? .any : .direct)
                request.sortDescriptors = [NSSortDescriptor(key: "objectID", ascending: true)]
                request.fetchLimit = Self.memberLimit
                let owners = StoredName.sorted(try pages.access.context.fetch(request))
                guard !owners.isEmpty else { continue }
                var links = owners.map { PageFrame.link(to: $0) }.joined(by: " ")
                if owners.count == Self.memberLimit {
                    request.fetchLimit = 0
                    links += more(than: owners.count, of: try pages.access.context.count(for: request))
                }
                rows +=
                    "<tr class=\"to\"><th scope=\"row\">\(entity.name ?? "").\(name) of</th><td>\(links)</td></tr>\n"
            }
        }
        return rows
    }
}
