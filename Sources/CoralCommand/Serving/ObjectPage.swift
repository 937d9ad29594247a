import Coral
import CoralTools

/// The page of an object: its values, and links to the objects that it refers to and that refer to it.
struct ObjectPage {
    private let pages: SitePages
    private let object: NSManagedObject
    private let mistake: Mistake?
    /// The number of members of a relationship that are shown.
    private static let memberLimit = 100

    /// A property that could not be changed, with what was entered and the reason.
    struct Mistake {
        let property: String
        let text: String
        let sentence: String
    }

    init(_ pages: SitePages, _ object: NSManagedObject, mistake: Mistake? = nil) {
        self.pages = pages
        self.object = object
        self.mistake = mistake
    }

    private var name: String { StoredName(object.objectID).text }
    private var isWritable: Bool { pages.store.isWritable }

    func html() throws -> String {
        let attributes = object.entity.attributesByName.sorted { $0.key < $1.key }.map(row)
        let relationships = object.entity.relationshipsByName.sorted { $0.key < $1.key }.map(row)
        let uri = HTMLText.escaped(object.objectID.uriRepresentation().absoluteString)
        let entity = object.entity.name ?? ""
        let card =
            "<article><h3>\(HTMLText.escaped(name)) <span>\(uri)</span></h3>\n<table>\n"
            + (attributes + relationships).joined() + (try incoming()) + "</table></article>\n"
        return pages.frame.page(
            title: PageFrame.title(of: object) ?? name,
            main: banner + "<p class=\"sum\">\(PageFrame.link(to: entity))</p>\n\(card)", entity: entity)
    }

    /// The mistake at the top of the page, with a link to its field.
    private var banner: String {
        guard let mistake else { return "" }
        let property = HTMLText.escaped(mistake.property)
        return
            "<div class=\"error\" role=\"alert\"><a href=\"#\(ValueEditor.anchor(of: mistake.property))\">\(property)</a> "
            + "was not changed.\(PageFrame.sentence(mistake.sentence))</div>\n"
    }

    private func header(_ name: String) -> String { "<th scope=\"row\">\(HTMLText.breakable(name))</th>" }

    // MARK: - Attributes

    private func row(_ name: String, _ attribute: NSAttributeDescription) -> String {
        let schema = GraphSchema.Attribute(attribute)
        let value = GraphValue(object.value(forKey: name), declaredAs: schema)
        let isStored = !attribute.isTransient && !(attribute is NSDerivedAttributeDescription)
        var cell = value.isNull ? "<span class=\"more\">no value</span>" : html(of: value, name)
        if isWritable, isStored {
            switch schema.type {
            case .transformable, .undefined: break
            case .binaryData: cell += editor(name).html(of: value, schema.type, in: pages.store.zone)
            case .composite: cell = elements(of: schema, value) ?? cell
            default: cell = editor(name).html(of: value, schema.type, in: pages.store.zone)
            }
        }
        return "<tr\(value.isNull ? " class=\"nil\"" : "")>\(header(name))<td>\(cell)\(error(of: name))</td></tr>\n"
    }

    private func editor(_ key: String) -> ValueEditor {
        ValueEditor(
            frame: pages.frame, object: name, key: key, mistake: mistake.flatMap { $0.property == key ? $0.text : nil })
    }

    /// A field for each element of a composite value; nil if an element is composite itself.
    private func elements(of schema: GraphSchema.Attribute, _ value: GraphValue) -> String? {
        guard !schema.elements.contains(where: { [.composite, .transformable, .undefined].contains($0.type) }) else {
            return nil
        }
        let members: [GraphAttribute] = if case .composite(let members) = value { members } else { [] }
        let rows = schema.elements.map { element in
            let key = "\(schema.name).\(element.name)"
            let member = members.first { $0.name == element.name }?.value ?? .null
            return "<dt>\(HTMLText.breakable(element.name))</dt><dd>"
                + "\(editor(key).html(of: member, element.type, in: pages.store.zone))\(error(of: key))</dd>"
        }
        return "<dl class=\"elements\">\(rows.joined())</dl>"
    }

    private func html(of value: GraphValue, _ name: String) -> String {
        let html = PageValue(StorePage()).text(value)
        switch value {
        case .data, .transformable:
            let address = FormFields.address("value", [("id", self.name), ("property", name)])
            return "\(html) <a class=\"file\" href=\"\(HTMLText.escaped(address))\">open</a>"
        case .date(let seconds):
            return pages.store.zone == nil
                ? html : "<time>\(HTMLText.escaped(DateCell.text(of: seconds, in: pages.store.zone)))</time>"
        default: return html
        }
    }

    private func error(of property: String) -> String {
        guard let mistake, mistake.property == property else { return "" }
        // The banner is announced.
        return "<div class=\"error\" id=\"mistake\">\(PageFrame.sentence(mistake.sentence))</div>"
    }

    // MARK: - Relationships

    private func row(_ name: String, _ relationship: NSRelationshipDescription) -> String {
        let value = object.value(forKey: name)
        let members: [NSManagedObject] =
            if let ordered = value as? NSOrderedSet {
                ordered.array.compactMap { $0 as? NSManagedObject }
            } else if let set = value as? NSSet {
                StoredName.sorted(set.allObjects.compactMap { $0 as? NSManagedObject })
            } else {
                (value as? NSManagedObject).map { [$0] } ?? []
            }
        var links = members.prefix(Self.memberLimit).map { PageFrame.link(to: $0) }.joined(separator: " ")
        if members.count > Self.memberLimit {
            links += " <span class=\"more\">… of \(Quantity.grouped(members.count))</span>"
        }
        if members.isEmpty { links = "<span class=\"more\">none</span>" }
        if members.count > 12 { links = "<details><summary>\(members.count) objects</summary>\(links)</details>" }
        if isWritable, !relationship.isTransient {
            let names = members.map { StoredName($0.objectID).text }.joined(separator: ", ")
            let label = relationship.isToMany ? "Members of \(name), separated by commas" : "Object of \(name)"
            if members.count <= Self.memberLimit {
                links += editor(name).html(names, label: label, isNull: members.isEmpty)
            }
        }
        return "<tr class=\"to\">\(header(name))<td>\(links)\(error(of: name))</td></tr>\n"
    }

    /// The objects that refer to this one by a relationship without an inverse.
    private func incoming() throws -> String {
        var rows = ""
        for entity in pages.model.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
            for (name, relationship) in entity.relationshipsByName.sorted(by: { $0.key < $1.key })
            where relationship.inverseRelationship == nil && entity.superentity?.relationshipsByName[name] == nil {
                guard let destination = relationship.destinationEntity, object.entity.isKindOf(entity: destination),
                    !relationship.isTransient
                else { continue }
                let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
                request.predicate = NSComparisonPredicate(
                    leftExpression: NSExpression(forKeyPath: name),
                    rightExpression: NSExpression(forConstantValue: object),
                    modifier: relationship.isToMany ? .any : .direct, type: .equalTo, options: [])
                request.fetchLimit = Self.memberLimit
                let owners = StoredName.sorted(try pages.access.context.fetch(request))
                guard !owners.isEmpty else { continue }
                let title = HTMLText.escaped("\(entity.name ?? "").\(name)")
                rows +=
                    "<tr class=\"to\"><th scope=\"row\">\(title) of</th><td>"
                    + owners.map { PageFrame.link(to: $0) }.joined(separator: " ") + "</td></tr>\n"
            }
        }
        return rows
    }
}
