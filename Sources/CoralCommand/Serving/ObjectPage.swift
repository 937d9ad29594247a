import Coral

/// The page of an object: its values, and links to the objects that it refers to and that refer to it.
struct ObjectPage {
    private let pages: SitePages
    private let object: NSManagedObject
    /// The property that could not be changed, with the reason.
    private let mistake: (property: String, sentence: String)?
    /// The number of members of a relationship that are shown.
    private static let memberLimit = 100

    init(_ pages: SitePages, _ object: NSManagedObject, mistake: (property: String, sentence: String)? = nil) {
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
            main: "<p class=\"sum\">\(PageFrame.link(to: entity))</p>\n\(card)", entity: entity)
    }

    private func header(_ name: String) -> String { "<th scope=\"row\">\(HTMLText.breakable(name))</th>" }

    // MARK: - Attributes

    private func row(_ name: String, _ attribute: NSAttributeDescription) -> String {
        let schema = GraphSchema.Attribute(attribute)
        let value = GraphValue(object.value(forKey: name), declaredAs: schema)
        let isStored = !attribute.isTransient && !(attribute is NSDerivedAttributeDescription)
        var cell = value.isNull ? "<span class=\"more\">no value</span>" : html(of: value, name)
        if isWritable, isStored, ![.transformable, .composite, .binaryData, .undefined].contains(schema.type) {
            let text: String =
                switch value {
                case .null: ""
                case .date(let seconds): DateCell.text(of: seconds, in: pages.store.zone)
                default: TextValue.text(of: value) ?? ""
                }
            cell = editor(name, text, label: "Value of \(name)", isNull: value.isNull, isText: schema.type == .string)
        }
        return "<tr\(value.isNull ? " class=\"nil\"" : "")>\(header(name))<td>\(cell)\(error(of: name))</td></tr>\n"
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

    /// A field for a value, and a button that removes it. Text is sent as a string of JSON, in which `null` is text.
    private func editor(
        _ name: String, _ text: String, label: String, isNull: Bool, isText: Bool = false
    ) -> String {
        let fields =
            pages.frame.hidden("id", self.name) + pages.frame.hidden("key", name)
            + pages.frame.hidden("place", pages.frame.place)
        let value = HTMLText.escaped(text)
        let label = "aria-label=\"\(HTMLText.escaped(label))\""
        let isLong = text.count > 60 || text.contains(where: \.isNewline)
        // A browser omits the first line break in a text area.
        let input =
            isLong
            ? "<textarea name=\"value\" rows=\"4\" \(label)>\n\(value)</textarea>"
            : "<input name=\"value\" type=\"text\" value=\"\(value)\" autocomplete=\"off\" \(label)>"
        let kind = isText ? pages.frame.hidden("kind", "text") : ""
        let remove =
            isNull
            ? ""
            : "<form class=\"edit\" method=\"post\" action=\"set\">\(fields)\(pages.frame.hidden("value", "null"))"
                + "<button title=\"Remove the value\">None</button></form>"
        return "<form class=\"edit\" method=\"post\" action=\"set\">\(fields)\(kind)"
            + "\(input)<button>Set</button></form>\(remove)"
    }

    private func error(of property: String) -> String {
        guard let mistake, mistake.property == property else { return "" }
        return PageFrame.error(mistake.sentence)
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
                links += editor(name, names, label: label, isNull: members.isEmpty)
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
