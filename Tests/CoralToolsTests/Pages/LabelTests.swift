#if !canImport(Darwin)
    import CoreData
    import Testing

    @testable import Coral
    @testable import CoralTools

    /// The attribute whose values are the display names of objects.
    @Suite struct LabelTests {
        private func entity(_ names: [String], label: String? = nil) -> NSEntityDescription {
            let entity = NSEntityDescription()
            entity.name = "Entity"
            entity.properties = names.map { name in
                let attribute = NSAttributeDescription()
                attribute.name = name
                attribute.attributeType = name == "number" ? .integer64AttributeType : .stringAttributeType
                return attribute
            }
            if let label { entity.userInfo = ["coral.label": label] }
            return entity
        }

        @Test(
            arguments: [
                (["fromJID", "text"], "text"), (["contactJID", "partnerName", "sessionType"], "partnerName"),
                (["name", "title"], "title"), (["identifier", "colour"], "colour"), (["uuid", "zone"], "uuid"),
                (["summary", "fileName"], "fileName"), (["displayname", "body"], "displayname"), (["number"], nil),
                (["URL", "messageBody"], "messageBody"), (["first_name", "note_id"], "first_name"),
            ] as [([String], String?)])
        func `the label reads as a name or a text`(_ names: [String], _ label: String?) {
            #expect(PageNameCollector.nameAttribute(of: entity(names)) == label)
        }

        @Test func `user info names the label`() {
            #expect(PageNameCollector.nameAttribute(of: entity(["title", "code"], label: "code")) == "code")
            // Only text is a label.
            #expect(PageNameCollector.nameAttribute(of: entity(["title", "number"], label: "number")) == "title")
            #expect(PageNameCollector.nameAttribute(of: entity(["title"], label: "missing")) == "title")
            // Subentities inherit it.
            let (parent, child) = (entity(["title", "code"], label: "code"), NSEntityDescription())
            child.name = "Child"
            parent.subentities = [child]
            let model = NSManagedObjectModel()
            model.entities = [parent, child]
            #expect(PageNameCollector.nameAttribute(of: child) == "code")
        }
    }
#endif
