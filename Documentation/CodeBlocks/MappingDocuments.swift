let json = Data(
    #"""
    [{"identifier": "00000000-0000-4000-8000-000000000001", "meta": {"title": "Shopping"}, "created_at": "29/2/2024",
      "author_id": "Ada"}]
    """#.utf8)
